#include "core/sync/latch.h"

#include "core/parking_lot.h"

namespace weft::core {

bool Latch::count_down(std::uint32_t by, bool& opens) {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  do {
    if ((word & most) < by) return false;
    if (word - by == parked) return opens = open(by);
    // acq_rel: what those did who counted down before reaches the waiters through the last one.
  } while (!word_.compare_exchange_weak(word, word - by, std::memory_order_acq_rel, std::memory_order_relaxed));
  opens = word == by;
  return true;
}

// The last step, and somebody is parked.
bool Latch::open(std::uint32_t by) {
  Waiters waiters(strict_key(this));
  std::uint32_t last = parked + by;
  if (!word_.compare_exchange_strong(last, 0, std::memory_order_acq_rel, std::memory_order_relaxed)) return false;
  waiters.take_all();
  return true;
}

// Under the queue's lock.
bool Latch::still_closed(const void* latch) {
  auto& word = static_cast<const Latch*>(latch)->word_;
  std::uint32_t seen = word.load(std::memory_order_acquire);
  while (seen != 0)
    if (word.compare_exchange_weak(seen, seen | parked, std::memory_order_acquire)) return true;
  return false;
}

ParkPlace Latch::place() const { return {strict_key(this), still_closed, this}; }

bool Latch::wait_until(std::uint64_t deadline) {
  return is_open() || park_until(strict_key(this), still_closed, this, deadline) != ParkResult::timed_out;
}

}  // namespace weft::core
