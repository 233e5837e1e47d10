// Latch: a count that goes down to zero, once; whoever waits goes on then. One word: the count, and a bit that
// says that somebody may be parked.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

struct ParkPlace;

class Latch {
 public:
  static constexpr std::uint32_t most = (1U << 31U) - 1;

  explicit Latch(std::uint32_t count) : word_(count) {}
  /// False: the count is less than that; nothing is changed.
  bool count_down(std::uint32_t by = 1);
  /// The same, and waits until it is open. Whoever opens it may free it at once, and so nothing of it is looked at
  /// after the own step.
  bool arrive_and_wait(std::uint32_t by);
  bool is_open() const { return word_.load(std::memory_order_acquire) == 0; }
  void wait() { (void)wait_until(never); }
  /// False: the deadline has passed.
  bool wait_until(std::uint64_t deadline);
  std::uint32_t count() const { return word_.load(std::memory_order_relaxed) & most; }
  ParkPlace place() const;

 private:
  static constexpr std::uint32_t parked = 1U << 31U;
  struct Arrival;
  bool open(std::uint32_t by);
  static bool still_closed(const void* latch);
  static bool steps_down(const void* arrival);
  mutable std::atomic<std::uint32_t> word_;
};

}  // namespace weft::core
