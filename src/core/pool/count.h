// A number that one thread at a time changes (its lock or its rights see to that), and anybody reads. So a change
// needs no locked instruction.
#pragma once

#include <atomic>
#include <cstddef>

namespace weft::core {

class Count {
 public:
  void add(std::size_t number) { set(value_.load(std::memory_order_relaxed) + number); }
  void subtract(std::size_t number) { set(value_.load(std::memory_order_relaxed) - number); }
  /// Whoever reads a value sees what had been counted elsewhere before it was written (two_lists.h).
  std::size_t get() const { return value_.load(std::memory_order_acquire); }

 private:
  void set(std::size_t value) { value_.store(value, std::memory_order_release); }
  std::atomic<std::size_t> value_{0};
};

}  // namespace weft::core
