// Courtesy: how a worker that spins leaves its CPU to others, of other processes or of threads of the program's own
// that are not weft's. How many CPUs there are, and how many workers are awake, weft knows (spinning_pays); who else
// wants to run, nobody tells. And a spinner that keeps its CPU from them is the dearest way to wait there is: MPI ranks
// that share their CPUs wait for the one whose CPU it has.
//
// So a spinner offers its CPU to the kernel now and then, and looks at the clock. Where nobody waits for that CPU it is
// back half a microsecond later. If it was away for longer, somebody has run, and will want to again before long: the
// worker does not spin any more for a while, but sleeps, and is woken when there is something to do. The same if the
// clock shows that the kernel has taken the CPU from it between two looks. After that while it tries again, which costs
// the others no more than the time until the first offer; and the while is the longer, the more often in a row it tried
// in vain.
//
// But a process of low priority (nice 19, say) gets a CPU that is offered too, and keeps it for a slice of
// milliseconds, though the kernel would leave it to the spinner most of the time; and a sleeper that is woken waits for
// the end of that slice. So who takes an offer is weighed: by how long it was away, and by how much the spinner had
// before that, in time spun and in offers (each forfeits about what is left of a slice) that nobody took. Linux gives
// the CPU to an equal at every second or third offer, to one of nice 5 at every eighth, of nice 10 at every
// twenty-third, of nice 19 at every hundredth. If it is of less weight, the worker spins on, and offers less often.
// Only whoever computes for long is weighed so: a rank that does little between two waits gets the CPU that it needs
// for that at once.
//
// And the worker itself may be of low priority, among others of more weight. Then the kernel wakes it at once only
// while it has used less than its share, and what it spins, and the slice that an offer forfeits, is many times as much
// of that (68 times at nice 19): it waits for hundreds of milliseconds, and again with each wait that begins with
// spinning. So who is of low priority, and has been away for longer than equals take turns, does not spin for some
// times as long.
//
// Of one worker, and only its own business: another one's CPU may be free. What it is worth: ./weft bench neighbours.
//
// Rejected: the number of threads that can run, in /proc/loadavg. It counts what is bound to CPUs where the process may
// not run, and in a container all that the machine has.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::core {

class Courtesy {
 public:
  /// Whether the worker, which would spin, had better not for now.
  bool on(std::uint64_t now) const { return now < until_; }

  void begins_to_spin(std::uint64_t now) {
    looked_ = offered_ = now;
    spun_ = 0;
  }

  /// Before it sleeps. In that time others have the CPU to themselves, and that they have it once more when it is
  /// offered for the first time says nothing of their weight.
  void sleeps() { is_known_ = false; }

  /// Since it began to spin, without the time in which others had the CPU; ns, up to the last look.
  std::uint64_t spun() const { return spun_; }

  /// While it spins, from time to time. Offers the CPU by `offer` when it is time to. True: others want it.
  /// `is_of_low_priority` says whether the kernel may have given it to others of more weight.
  template <class Now, class Offer, class IsLow>
  bool others_want_cpu(Now read_clock, std::uint64_t now, Offer offer, IsLow is_of_low_priority) {
    if (now - looked_ >= taken_ns) return was_taken(now, now - looked_, is_of_low_priority);
    spun_ += now - looked_;
    had_ += now - looked_;
    looked_ = now;
    if (now - offered_ < between_offers_) return false;
    offer();
    const std::uint64_t back = read_clock();
    if (back - now >= given_ns) return was_taken(back, back - now, is_of_low_priority);
    looked_ = offered_ = back;
    had_ += forfeited_ns;
    while_ = shortest_while_ns;
    return false;
  }

 private:
  static constexpr std::uint64_t often_ns = 20ULL * 1000;
  static constexpr std::uint64_t seldom_ns = 8 * often_ns;
  static constexpr std::uint64_t given_ns = 100ULL * 1000;   // more than an interrupt takes, on a virtual machine too
  static constexpr std::uint64_t taken_ns = 500ULL * 1000;   // the same, and what lies between two looks
  static constexpr std::uint64_t slice_ns = 1000ULL * 1000;  // who computes for long has at least that in a row
  static constexpr std::uint64_t forfeited_ns = slice_ns;    // by an offer
  static constexpr std::uint64_t lesser = 4;                 // it has at most one part in so many
  static constexpr std::uint64_t shortest_while_ns = 1000ULL * 1000;
  static constexpr std::uint64_t longest_while_ns = 16 * shortest_while_ns;
  static constexpr std::uint64_t long_ns = 100 * slice_ns;  // some thirty equals would not take longer
  static constexpr std::uint64_t times_as_long = 8;
  static constexpr std::uint64_t longest_beside_greater_ns = 4000 * shortest_while_ns;  // it may have been stopped

  // Whether by somebody who wants as much of the CPU as the worker has, or may.
  template <class IsLow>
  bool was_taken(std::uint64_t now, std::uint64_t away, IsLow is_of_low_priority) {
    looked_ = offered_ = now;
    if (away >= slice_ns) {
      const bool by_lesser = had_ >= lesser * away, unknown = !is_known_;
      had_ = 0;
      is_known_ = true;
      if (by_lesser) between_offers_ = std::min(2 * between_offers_, seldom_ns);
      if (by_lesser) return false;
      if (away >= long_ns && is_of_low_priority()) return was_taken_by_greater(now, away);
      if (unknown) return false;
      between_offers_ = often_ns;
    }
    until_ = now + while_;
    while_ = std::min(2 * while_, longest_while_ns);
    return true;
  }

  bool was_taken_by_greater(std::uint64_t now, std::uint64_t away) {
    between_offers_ = often_ns;
    until_ = now + std::min(times_as_long * away, longest_beside_greater_ns);
    return true;
  }

  std::uint64_t looked_ = 0;   // at the clock
  std::uint64_t offered_ = 0;  // when the CPU was
  std::uint64_t between_offers_ = often_ns;
  std::uint64_t spun_ = 0;
  std::uint64_t had_ = 0;  // since somebody had the CPU for a slice: time spun, and what offers forfeited
  bool is_known_ = false;  // had_: it has not slept since
  std::uint64_t until_ = 0;
  std::uint64_t while_ = shortest_while_ns;
};

}  // namespace weft::core
