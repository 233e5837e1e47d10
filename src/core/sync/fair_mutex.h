// A mutex that is handed over: unlock() gives it to the unit that has waited longest, and nobody can come
// between. No waiter starves; the price is a change of units at each unlock that somebody waits for,
// where Mutex lets whoever runs take it again.
//
// States: 0 free, 1 held, 2 held and somebody is parked (or was, and timed out). 2 is entered and left under the lock
// of the queue, and the word does not become 0 in between, so 1 -> 0 and 0 -> 1 are all that happens outside.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

class FairMutex {
 public:
  void lock() { (void)try_lock_until(never); }
  [[nodiscard]] bool try_lock() {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// False: the deadline has passed.
  [[nodiscard]] bool try_lock_until(std::uint64_t deadline) { return try_lock() || lock_slow(deadline); }
  /// False: nobody held it, which is bad use.
  bool unlock() {
    std::uint32_t held = 1;
    if (word_.compare_exchange_strong(held, 0, std::memory_order_release, std::memory_order_relaxed)) [[likely]]
      return true;
    return held != 0 && unlock_slow();
  }
  bool held() const { return word_.load(std::memory_order_relaxed) != 0; }

 private:
  bool lock_slow(std::uint64_t deadline);
  bool unlock_slow();
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace weft::core
