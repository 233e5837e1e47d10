#include "os/barrier.h"

#include <cerrno>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::os {

bool membarrier_works = false;

void register_membarrier() {
#if !defined(WEFT_TSAN)
  const int kept = errno;
  membarrier_works = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  errno = kept;
#endif
}

void heavy_fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (membarrier_works) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace weft::os
