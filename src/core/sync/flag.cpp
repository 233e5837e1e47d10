#include "core/sync/flag.h"

#include "core/parking_lot.h"

namespace weft::core {

void Flag::set() {
  // Also from set to set: who clears it and then looks has to find what was done before.
  std::uint32_t word = 0;
  do {
    if (word_.compare_exchange_strong(word, 2, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
  } while (word != 1);
  Waiters waiters(strict_key(this));
  waiters.take_all();
  word_.store(2, std::memory_order_release);
}

void Flag::clear() {
  std::uint32_t set = 2;
  word_.compare_exchange_strong(set, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
}

// Under the queue's lock.
bool Flag::still_clear(const void* flag) {
  auto& word = static_cast<const Flag*>(flag)->word_;
  std::uint32_t seen = word.load(std::memory_order_acquire);
  while (seen != 2)
    if (word.compare_exchange_weak(seen, 1, std::memory_order_acquire)) return true;
  return false;
}

ParkPlace Flag::place() const { return {strict_key(this), still_clear, this}; }

// Whoever is woken goes on, even if the flag has been cleared since: it was set.
bool Flag::wait_until(std::uint64_t deadline) const {
  return is_set() || park_until(strict_key(this), still_clear, this, deadline) != ParkResult::timed_out;
}

}  // namespace weft::core
