#include "core/sync/mutex.h"

#include "core/looks.h"
#include "core/parking_lot.h"

namespace weft::core {

bool Mutex::lock_slow(std::uint64_t deadline) {
  constexpr unsigned all_pauses = 127;
  Looks looks(all_pauses);  // the holder may be about to leave
  while (looks.pause())
    if (word_.load(std::memory_order_relaxed) == 0 && try_lock()) return true;
  const auto still_held = [](const void* word) {
    return static_cast<const std::atomic<std::uint32_t>*>(word)->load(std::memory_order_relaxed) == 2;
  };
  while (word_.exchange(2, std::memory_order_acquire) != 0)
    if (park_until(&word_, still_held, &word_, deadline) == ParkResult::timed_out) return false;
  return true;
}

void Mutex::unlock_slow() { unpark(&word_, 1); }

}  // namespace weft::core
