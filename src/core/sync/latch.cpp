#include "core/sync/latch.h"

#include "core/parking_lot.h"

namespace weft::core {

bool Latch::count_down(std::uint32_t by) {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  do {
    if ((word & most) < by) return false;
    if (word - by == parked) return open(by);
    // acq_rel: what those did who counted down before reaches the waiters through the last one.
  } while (!word_.compare_exchange_weak(word, word - by, std::memory_order_acq_rel, std::memory_order_relaxed));
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

struct Latch::Arrival {
  Latch& latch;
  std::uint32_t by;
};

// Under the queue's lock, too: so whoever opens the latch finds the unit in the queue. False: it would be the last
// step, or more than there is.
bool Latch::steps_down(const void* arrival) {
  const auto& [latch, by] = *static_cast<const Arrival*>(arrival);
  std::uint32_t word = latch.word_.load(std::memory_order_relaxed);
  while ((word & most) > by)
    if (latch.word_.compare_exchange_weak(word, (word - by) | parked, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
      return true;
  return false;
}

bool Latch::arrive_and_wait(std::uint32_t by) {
  const Arrival arrival{*this, by};
  if (count() > by && park(strict_key(this), steps_down, &arrival)) return true;
  return count_down(by);  // to 0: it only ever goes down
}

ParkPlace Latch::place() const { return {strict_key(this), still_closed, this}; }

bool Latch::wait_until(std::uint64_t deadline) {
  return is_open() || park_until(strict_key(this), still_closed, this, deadline) != ParkResult::timed_out;
}

}  // namespace weft::core
