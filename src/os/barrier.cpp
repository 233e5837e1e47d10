#include "os/barrier.h"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/system_call.h"

namespace weft::os {

std::atomic<bool> membarrier_works{false};
std::atomic<bool> membarrier_has_failed{false};

void register_membarrier() {
#if !defined(WEFT_TSAN)
  const int kept = errno;
  membarrier_works = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  errno = kept;
#endif
}

// What has worked may be refused later (a seccomp filter that the program puts on itself). Then light fences become
// real ones. Those that are just being passed are not, which nobody here can mend: it is said.
void heavy_fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!membarrier_works.load(std::memory_order_relaxed)) return;
  if (arch::system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  membarrier_works.store(false, std::memory_order_seq_cst);
  membarrier_has_failed.store(true, std::memory_order_relaxed);
}

}  // namespace weft::os
