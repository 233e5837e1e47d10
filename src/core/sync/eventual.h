// Eventual: one value, set once, for any number of waiters; may be reset. The value is the bytes that are copied
// into the eventual's buffer, or, if it has none, the pointer that is set. As ABT_eventual of Argobots.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/sync/flag.h"

namespace weft::core {

class Eventual {
 public:
  /// `buffer` nullptr: the value is a pointer.
  Eventual(void* buffer, std::size_t capacity) : buffer_(buffer), capacity_(capacity) {}

  /// False: it has been set already.
  bool set(const void* value, std::size_t size);
  bool is_set() const { return ready_.is_set(); }
  bool wait_until(std::uint64_t deadline) const { return ready_.wait_until(deadline); }
  void reset();
  const Flag& ready() const { return ready_; }

  // Once it is set.
  void* value() const { return value_; }
  std::size_t size() const { return size_; }
  bool copies() const { return buffer_ != nullptr; }
  std::size_t capacity() const { return copies() ? capacity_ : SIZE_MAX; }

 private:
  Flag ready_;
  std::atomic<std::uint32_t> taken_{0};  // by the one who sets it
  void* buffer_;
  std::size_t capacity_;
  void* value_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft::core
