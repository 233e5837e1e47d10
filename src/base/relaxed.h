// A variable that one thread at a time writes, and that anybody may look at for a picture of the past. It reads and
// writes as a plain one, and costs as much; nothing is ordered by it.
#pragma once

#include <atomic>
#include <type_traits>

namespace weft::base {

template <class T>
class Relaxed {
 public:
  constexpr explicit Relaxed(T value) : value_(value) {}
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

  T get() const { return value_.load(std::memory_order_relaxed); }
  operator T() const { return get(); }
  T operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return value;
  }
  /// If somebody else may write it, too: only if it is `before`.
  bool replace(T before, T after) { return value_.compare_exchange_strong(before, after, std::memory_order_relaxed); }
  T operator->() const requires std::is_pointer_v<T> { return get(); }
  auto& operator*() const requires std::is_pointer_v<T> { return *get(); }

 private:
  std::atomic<T> value_;
};

}  // namespace weft::base
