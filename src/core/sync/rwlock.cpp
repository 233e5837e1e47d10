#include "core/sync/rwlock.h"

#include "core/parking_lot.h"

namespace weft::core {

bool RwLock::fits(std::uint32_t held, std::uint32_t share) {
  return share == writer ? held == 0 : (held & writer) == 0 && held < readers;
}

bool RwLock::try_lock_shared() {
  std::uint32_t word = word_.load(std::memory_order_relaxed);
  while ((word & parked) == 0 && fits(word, 1))
    if (word_.compare_exchange_weak(word, word + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  return false;
}

// Under the queue's lock: takes the lock if it can be had and nobody is parked, else notes that somebody is.
bool RwLock::join_or_announce(const void* argument) {
  const auto& [word, share] = *static_cast<const Request*>(argument);
  for (std::uint32_t seen = word->load(std::memory_order_relaxed);;) {
    const bool joins = (seen & parked) == 0 && fits(seen, share);
    const std::uint32_t next = joins ? seen + share : seen | parked;
    if (word->compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) return !joins;
  }
}

bool RwLock::wait_for(std::uint32_t share, std::uint64_t deadline) {
  const Request request{&word_, share};
  // woken: it has been handed over. not_wanted: it has been taken after all.
  if (park({strict_key(this), join_or_announce, &request, deadline, share}) != ParkResult::timed_out) return true;
  // Those behind the caller may have waited for the caller only.
  if ((word_.load(std::memory_order_relaxed) & parked) != 0) hand_over(0);
  return false;
}

bool RwLock::unlock() {
  for (std::uint32_t word = word_.load(std::memory_order_relaxed);;) {
    if ((word & ~parked) == 0) return false;
    const std::uint32_t share = (word & writer) != 0 ? writer : 1;
    if ((word & parked) != 0) {
      hand_over(share);
      return true;
    }
    if (word_.compare_exchange_weak(word, word - share, std::memory_order_release, std::memory_order_relaxed))
      return true;
  }
}

void RwLock::hand_over(std::uint32_t released) {
  Waiters waiters(strict_key(this));
  // Without the bit the word changes outside as well; with it, here only.
  std::uint32_t word = word_.load(std::memory_order_acquire);
  while ((word & parked) == 0)
    if (word_.compare_exchange_weak(word, word - released, std::memory_order_acq_rel, std::memory_order_acquire))
      return;
  std::uint32_t held = (word & ~parked) - released;
  while (!waiters.empty()) {
    const auto share = static_cast<std::uint32_t>(waiters.front_token());
    if (!fits(held, share)) break;
    (void)waiters.take();
    held += share;
  }
  word_.store(waiters.empty() ? held : held | parked, std::memory_order_release);
}

}  // namespace weft::core
