// Appetite: how much a worker that has nothing takes from another. What it takes crosses from core to core, a few cache
// lines per unit each way (some 300 ns each on a virtual machine: an empty unit
// takes a thief 900 ns); so to take units that run for less than that slows everybody down. How long
// units run, nobody knows but who has run some: the thief takes a few, measures until it has nothing again, and then
// either takes from now on what lasts for a while, but halves at most, or leaves others alone, longer from time to
// time. The owner of the units does nothing for it.
//
// Not more than lasts: of what divides itself again and again the oldest unit is half of all there is, and who takes
// the next oldest ones too leaves small ones, for which the other comes back soon. fib(32), child first on two workers:
// 27 units taken in 13 visits instead of 832 in 104; queens(10) takes 5 % less time.
//
// Of one worker, and only its own business. What keeps a worker from taking is its own pause, never more than
// `longest_pause`; and one that would go to sleep takes a few first (Searching::sleep).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/growing_pause.h"
#include "os/clock.h"

namespace weft::core {

class Appetite {
 public:
  static constexpr std::size_t most = 64;  // that are taken at once

  /// The worker searches, so it is done with what it took. How many units it shall take at most; 0: none for now.
  std::size_t limit() {
    if (taken_ == 0 && !pause_.exists()) [[likely]]
      return limit_;
    const std::uint64_t now = os::now_ns();
    if (taken_ != 0) judge(now);
    return pause_.is_over(now) ? limit_ : 0;
  }

  void took(std::size_t count) {
    taken_ = count;
    taken_at_ = os::now_ns();
  }

  /// It shall take some at its next search, whatever it has learned.
  void end_pause() { pause_.end(); }

 private:
  static constexpr std::size_t few = 8;
  static constexpr std::uint64_t longest_pause = 256000;
  static constexpr std::uint64_t worth_ns = 1500;     // of a unit, its way to the thief included
  static constexpr std::uint64_t enough_ns = 100000;  // of all that is taken at once

  void judge(std::uint64_t now) {
    const std::size_t count = taken_;
    const std::uint64_t lasted = now - taken_at_;
    taken_ = 0;
    if (lasted >= (count + 1) * worth_ns) {
      limit_ = std::clamp<std::size_t>(enough_ns * count / lasted, 1, most);
      pause_.forget();
      return;
    }
    limit_ = few;
    pause_.begin(now);
  }

  std::size_t limit_ = few;
  std::size_t taken_ = 0;
  std::uint64_t taken_at_ = 0;
  GrowingPause<8000, longest_pause> pause_;  // none: the last that were taken were worth it
};

}  // namespace weft::core
