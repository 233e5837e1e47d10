// The lock under which a member of a team adds its part of a reduction to the variables (reduction.cpp). As
// core/sync/mutex.h, but who waits for it may wait for something else besides, and may go away: so all who sleep are
// woken when it is free.
//
// States: 0 free, 1 held, 2 held and somebody may sleep. Who sleeps has seen 2 under the lock of the queue that it then
// stands in, and 2 goes only with an unlock() that wakes all. Each of them looks again.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::openmp {

class ReductionLock {
 public:
  [[nodiscard]] bool try_lock() {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void lock();
  /// For the short waits before a sleep: spins for so many pauses at most.
  [[nodiscard]] bool try_for_a_moment(unsigned pauses);
  void unlock() {
    if (word_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
      wake_all();
  }
  bool held() const { return word_.load(std::memory_order_relaxed) != 0; }

  /// For who is about to sleep at this address: takes the lock, or notes that somebody sleeps.
  [[nodiscard]] bool lock_or_announce() { return word_.exchange(2, std::memory_order_acquire) == 0; }
  /// Whether to sleep, asked under the lock of the queue.
  static bool is_announced(const void* lock) {
    return static_cast<const ReductionLock*>(lock)->word_.load(std::memory_order_relaxed) == 2;
  }

 private:
  void wake_all();
  std::atomic<std::uint32_t> word_{0};
};

struct ReductionOffer;

/// What a team has for its reductions.
struct Reductions {
  ReductionLock lock;
  std::atomic<ReductionOffer*> offered{nullptr};  // by a member that waits for the lock
};

}  // namespace weft::openmp
