// How often something has happened: one thread at a time counts, and anybody may look. Costs little more than a plain
// number; nothing is ordered by it.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::base {

class Count {
 public:
  Count() = default;
  Count(const Count& other) : value_(other.get()) {}
  Count& operator=(const Count& other) {
    value_.store(other.get(), std::memory_order_relaxed);
    return *this;
  }

  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  operator std::uint64_t() const { return get(); }
  void operator+=(std::uint64_t more) { value_.store(get() + more, std::memory_order_relaxed); }
  void operator++() { *this += 1; }
  void operator--() { *this += ~std::uint64_t{0}; }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace weft::base
