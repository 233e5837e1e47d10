// Readers-writer lock for ULTs and roots. One word; the uncontended paths are one atomic operation.
//
// Fair: once somebody is parked, readers and writers alike queue up, and whoever releases the lock hands it to those
// that have waited longest, to one writer or to all the readers before the next. So neither side starves.
//
// The word: the number of readers that hold it, or the writer bit; and a bit that says that somebody is
// parked. Without that bit the word changes by compare-exchange. With it, it changes under the lock of the queue
// only, by one store per release, after which the word is not touched: who finds the lock free may free it. The model
// is tests/models/rwlock.pml. Rejected: separate queues for the two sides (phase-fair, B. Brandenburg and J. Anderson,
// 2010): a reader waits for one writer at most, but two queues cannot be held still together.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

class RwLock {
 public:
  void lock() { (void)try_lock_until(never); }
  [[nodiscard]] bool try_lock() {
    std::uint32_t free = 0;
    return word_.compare_exchange_strong(free, writer, std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// False: the deadline has passed.
  [[nodiscard]] bool try_lock_until(std::uint64_t deadline) { return try_lock() || wait_for(writer, deadline); }

  void lock_shared() { (void)try_lock_shared_until(never); }
  [[nodiscard]] bool try_lock_shared();
  [[nodiscard]] bool try_lock_shared_until(std::uint64_t deadline) {
    return try_lock_shared() || wait_for(1, deadline);
  }

  /// Of either side. False: nobody holds it.
  bool unlock();
  bool held() const { return word_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr std::uint32_t writer = 1U << 31U;
  static constexpr std::uint32_t parked = 1U << 30U;
  static constexpr std::uint32_t readers = parked - 1;

  struct Request {
    std::atomic<std::uint32_t>* word;
    std::uint32_t share;  // `writer`, or 1 reader
  };
  static bool fits(std::uint32_t held, std::uint32_t share);
  static bool join_or_announce(const void* request);
  bool wait_for(std::uint32_t share, std::uint64_t deadline);
  void hand_over(std::uint32_t released);
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace weft::core
