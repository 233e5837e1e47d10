// Counting semaphore for ULTs and roots. One word: the permits, and a bit that says that somebody may be parked,
// which is set and cleared under the queue's lock. Released permits are anybody's: the woken unit competes. The model,
// with waits for one of several events, is tests/models/semaphore.pml.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

struct ParkPlace;

class Semaphore {
 public:
  static constexpr std::uint32_t most_permits = (1U << 31U) - 1;

  explicit Semaphore(std::uint32_t count = 0) : word_(count) {}
  void acquire() { (void)try_acquire_until(never); }
  [[nodiscard]] bool try_acquire();
  /// False: the deadline has passed.
  [[nodiscard]] bool try_acquire_until(std::uint64_t deadline);
  /// False: there would be more than `most_permits`; nothing is changed.
  bool release(std::uint32_t count = 1);
  std::uint32_t permits() const { return word_.load(std::memory_order_relaxed) & most_permits; }

  /// Where to wait until there may be a permit.
  ParkPlace place() const;

 private:
  static constexpr std::uint32_t parked = 1U << 31U;
  static bool none_left(const void* semaphore);
  bool release_slow(std::uint32_t count);
  mutable std::atomic<std::uint32_t> word_;
};

}  // namespace weft::core
