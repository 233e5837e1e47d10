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

  void begins_to_spin(std::uint64_t now) { looked_ = offered_ = now; }

  /// While it spins, from time to time. Offers the CPU by `offer` when it is time to. True: others want it.
  template <class Now, class Offer>
  bool others_want_cpu(Now read_clock, std::uint64_t now, Offer offer) {
    if (now - looked_ >= taken_ns) return had_to_wait(now);
    looked_ = now;
    if (now - offered_ < between_offers_ns) return false;
    offer();
    looked_ = offered_ = read_clock();
    if (offered_ - now >= given_ns) return had_to_wait(offered_);
    while_ = shortest_while_ns;
    return false;
  }

 private:
  static constexpr std::uint64_t between_offers_ns = 20ULL * 1000;
  static constexpr std::uint64_t given_ns = 100ULL * 1000;  // more than an interrupt takes, on a virtual machine too
  static constexpr std::uint64_t taken_ns = 500ULL * 1000;  // the same, and what lies between two looks
  static constexpr std::uint64_t shortest_while_ns = 1000ULL * 1000;
  static constexpr std::uint64_t longest_while_ns = 16 * shortest_while_ns;

  bool had_to_wait(std::uint64_t now) {
    until_ = now + while_;
    while_ = std::min(2 * while_, longest_while_ns);
    return true;
  }

  std::uint64_t looked_ = 0;   // at the clock
  std::uint64_t offered_ = 0;  // when the CPU was
  std::uint64_t until_ = 0;
  std::uint64_t while_ = shortest_while_ns;
};

}  // namespace weft::core
