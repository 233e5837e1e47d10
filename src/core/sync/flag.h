// Flag: set or not; whoever waits goes on when it is set. States: 0 clear, 1 clear and somebody may be parked, 2 set.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

struct ParkPlace;

class Flag {
 public:
  explicit Flag(bool set = false) : word_(set ? 2 : 0) {}
  bool is_set() const { return word_.load(std::memory_order_acquire) == 2; }
  void set();
  /// Nobody may be about to return from a wait for what was.
  void clear();
  void wait() const { (void)wait_until(never); }
  /// False: the deadline has passed.
  bool wait_until(std::uint64_t deadline) const;
  ParkPlace place() const;

 private:
  static bool still_clear(const void* flag);
  mutable std::atomic<std::uint32_t> word_;
};

}  // namespace weft::core
