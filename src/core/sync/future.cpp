#include "core/sync/future.h"

namespace weft::core {

bool Future::set(void* value) {
  const std::uint32_t count = count_;  // who is not the last has nothing to look at after it has filled its place
  std::uint32_t place = taken_.load(std::memory_order_relaxed);
  do {
    if (place == count) return false;
  } while (!taken_.compare_exchange_weak(place, place + 1, std::memory_order_acquire, std::memory_order_relaxed));
  if (values_ != nullptr) values_[place] = value;
  // acq_rel: all values reach the last setter, and through it the waiters.
  if (filled_.fetch_add(1, std::memory_order_acq_rel) + 1 != count) return true;
  if (callback_ != nullptr) callback_(values_, count, argument_);
  ready_.set();  // afterwards a waiter may free the future
  return true;
}

void Future::reset() {
  ready_.clear();
  filled_.store(0, std::memory_order_relaxed);
  taken_.store(0, std::memory_order_release);
}

}  // namespace weft::core
