#include "core/sync/eventual.h"

#include <cstring>

namespace weft::core {

bool Eventual::set(const void* value, std::size_t size) {
  if (taken_.exchange(1, std::memory_order_acquire) != 0) return false;
  if (buffer_ != nullptr) {
    if (size != 0) std::memcpy(buffer_, value, size);
    value_ = buffer_;
  } else {
    value_ = const_cast<void*>(value);
  }
  size_ = size;
  ready_.set();  // afterwards a waiter may free the eventual
  return true;
}

void Eventual::reset() {
  ready_.clear();
  taken_.store(0, std::memory_order_release);
}

}  // namespace weft::core
