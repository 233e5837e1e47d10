#include "core/sync/fair_mutex.h"

#include "core/parking_lot.h"

namespace weft::core {
namespace {

// Under the queue's lock: takes the mutex if it is free, else notes that somebody waits.
bool take_or_announce(const void* argument) {
  auto& word = *static_cast<std::atomic<std::uint32_t>*>(const_cast<void*>(argument));
  for (std::uint32_t state = word.load(std::memory_order_relaxed);;) {
    const std::uint32_t next = state == 0 ? 1 : 2;
    if (word.compare_exchange_weak(state, next, std::memory_order_acquire, std::memory_order_relaxed))
      return state != 0;
  }
}

}  // namespace

bool FairMutex::lock_slow(std::uint64_t deadline) {
  // woken: it has been handed over. not_wanted: it was free after all, and has been taken.
  return park_until(strict_key(this), take_or_announce, &word_, deadline) != ParkResult::timed_out;
}

bool FairMutex::unlock_slow() {
  Waiters waiters(strict_key(this));
  std::uint32_t next = 0;
  if (waiters.take()) next = waiters.empty() ? 1 : 2;
  // The last thing done to the word: who finds it free may free its memory.
  word_.store(next, std::memory_order_release);
  return true;
}

}  // namespace weft::core
