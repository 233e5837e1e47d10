// An asymmetric pair of fences: the frequent side pays nothing, the rare side pays for both.
//
// light_fence() on one thread and heavy_fence() on another order store-then-load on both as two
// sequentially consistent fences would. Kernel: membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), which
// runs a full barrier on every core that runs a thread of this process. Where the kernel has no
// membarrier, and in sanitizer builds (which do not know of it), both are real fences.
#pragma once

#include <atomic>

namespace weft::os {

extern std::atomic<bool> membarrier_works __attribute__((visibility("hidden")));
/// It has worked, and does no longer.
extern std::atomic<bool> membarrier_has_failed;

/// Registers the process; call once before the first heavy_fence(), and again in a forked child.
void register_membarrier();

inline void light_fence() {
  if (membarrier_works.load(std::memory_order_relaxed)) [[likely]]
    std::atomic_signal_fence(std::memory_order_seq_cst);
  else
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Also from handlers.
void heavy_fence();

}  // namespace weft::os
