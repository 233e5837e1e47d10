#include "core/sync/mutex.h"

#include "arch/cpu.h"
#include "core/parking_lot.h"

namespace weft::core {

bool Mutex::lock_slow(std::uint64_t deadline) {
  // Briefly: the holder may be about to leave. Longer only costs what others could run meanwhile. The looks come ever
  // more seldom: each takes the word's cache line from the holder, who may release the lock and take it again at little
  // cost in between.
  constexpr unsigned most_pauses = 32, all_pauses = 127;
  unsigned pauses = 1;
  for (unsigned paused = 0; paused < all_pauses; paused += pauses) {
    for (unsigned pause = 0; pause < pauses; ++pause) arch::relax();
    if (word_.load(std::memory_order_relaxed) == 0 && try_lock()) return true;
    if (pauses < most_pauses) pauses *= 2;
  }
  const auto still_held = [](const void* word) {
    return static_cast<const std::atomic<std::uint32_t>*>(word)->load(std::memory_order_relaxed) == 2;
  };
  while (word_.exchange(2, std::memory_order_acquire) != 0)
    if (park_until(&word_, still_held, &word_, deadline) == ParkResult::timed_out) return false;
  return true;
}

void Mutex::unlock_slow() { unpark(&word_, 1); }

}  // namespace weft::core
