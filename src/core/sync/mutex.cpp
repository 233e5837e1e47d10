#include "core/sync/mutex.h"

#include "arch/cpu.h"
#include "core/parking_lot.h"

namespace weft::core {

bool Mutex::lock_slow(std::uint64_t deadline) {
  // Briefly: the holder may be about to leave. Longer only costs what others could run meanwhile.
  constexpr unsigned rounds = 100;
  for (unsigned round = 0; round < rounds; ++round) {
    if (word_.load(std::memory_order_relaxed) == 0 && try_lock()) return true;
    arch::relax();
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
