// Barrier for a fixed number of ULTs and roots, usable again and again. An arrival goes to the queue anyway, so all
// that is counted is counted under the queue's lock: one atomic operation. The number of the round tells one who
// gives up whether it was still counted.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/timer.h"

namespace weft::core {

class Waiters;

class Barrier {
 public:
  enum class Outcome : std::uint8_t { passed, passed_last, timed_out };

  explicit Barrier(std::uint32_t parties) : parties_(parties) {}
  /// True for exactly one of the parties of each round: the last to arrive.
  bool arrive_and_wait();
  /// When the deadline has passed, and some have not arrived, the caller has not arrived either.
  Outcome wait_until(std::uint64_t deadline);
  /// Arrives only if it is the last; for those that cannot wait.
  [[nodiscard]] bool try_arrive_last();
  /// How many have arrived and wait.
  std::uint32_t arrived() const { return arrived_.load(std::memory_order_relaxed); }
  std::uint32_t parties() const { return parties_; }

 private:
  bool arrive(Waiters& waiters);
  bool take_back(std::uint32_t round);
  std::atomic<std::uint32_t> arrived_{0};
  std::atomic<std::uint32_t> round_{0};
  const std::uint32_t parties_;
};

}  // namespace weft::core
