#include "core/sync/semaphore.h"

#include "core/parking_lot.h"

namespace weft::core {

bool Semaphore::try_acquire() {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  while ((word & most_permits) != 0)
    if (word_.compare_exchange_weak(word, word - 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  return false;
}

// Under the queue's lock.
bool Semaphore::none_left(const void* semaphore) {
  auto& word = static_cast<const Semaphore*>(semaphore)->word_;
  std::uint32_t seen = word.load(std::memory_order_relaxed);
  while ((seen & most_permits) == 0)
    if (word.compare_exchange_weak(seen, seen | parked, std::memory_order_relaxed)) return true;
  return false;
}

ParkPlace Semaphore::place() const { return {&word_, none_left, this}; }

bool Semaphore::try_acquire_until(std::uint64_t deadline) {
  while (!try_acquire())
    if (park_until(&word_, none_left, this, deadline) == ParkResult::timed_out) return false;
  return true;
}

bool Semaphore::release(std::uint32_t count) {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  do {
    if ((word & parked) != 0) return release_slow(count);
    if (count > most_permits - word) return false;
  } while (!word_.compare_exchange_weak(word, word + count, std::memory_order_release, std::memory_order_relaxed));
  return true;
}

bool Semaphore::release_slow(std::uint32_t count) {
  Waiters waiters(&word_);
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  // Others may acquire meanwhile, but not set the bit or clear it; nor release, unless somebody has cleared it just
  // now. Then nobody waits here, and nothing has happened yet where they leave no room.
  if (count > most_permits - (word & most_permits)) return false;
  for (std::uint32_t permit = 0; permit < count && waiters.take(); ++permit) {
  }
  std::uint32_t next;
  do {
    if (count > most_permits - (word & most_permits)) return false;
    const std::uint32_t permits = (word & most_permits) + count;
    next = waiters.empty() ? permits : permits | parked;
  } while (!word_.compare_exchange_weak(word, next, std::memory_order_release, std::memory_order_relaxed));
  return true;
}

}  // namespace weft::core
