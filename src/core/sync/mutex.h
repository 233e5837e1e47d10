// Mutual exclusion between ULTs and roots. One word; the uncontended path is one atomic operation.
//
// States: 0 free, 1 held, 2 held and somebody may be parked. unlock() hands nothing over: the woken
// unit competes again (no convoy), but keeps state 2 while others may be parked. fair_mutex.h hands over.
// After U. Drepper, "Futexes Are Tricky" (2011), mutex 3, with the parking lot in place of the futex.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

class Mutex {
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
    const std::uint32_t before = word_.exchange(0, std::memory_order_release);
    if (before == 2) [[unlikely]]
      unlock_slow();
    return before != 0;
  }
  Mutex* plain() { return this; }
  bool held() const { return word_.load(std::memory_order_relaxed) != 0; }
  /// For the holder: nobody has had to be woken by unlock() so far.
  bool held_and_not_awaited() const { return word_.load(std::memory_order_relaxed) == 1; }

 private:
  bool lock_slow(std::uint64_t deadline);
  void unlock_slow();
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace weft::core
