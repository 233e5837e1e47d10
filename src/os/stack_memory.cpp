#include "os/stack_memory.h"

#include <cerrno>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace weft::os {
namespace {

// Linux 6.13: a guard inside a mapping, so that vm.max_map_count does not limit the number of stacks.
constexpr int madv_guard_install = 102;

constexpr std::size_t page = 4096;

// Compilers do not probe the stack by default; a large automatic array may jump over one page.
std::size_t guard_for(std::size_t size) { return size >= (256U << 10U) ? 16 * page : page; }

}  // namespace

StackMemory map_stack(std::size_t size) {
  const int kept = errno;
  const std::size_t guard = guard_for(size);
  void* base = mmap(nullptr, size + guard, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  StackMemory memory;
  if (base != MAP_FAILED) {
    if (madvise(base, guard, madv_guard_install) != 0) mprotect(base, guard, PROT_NONE);
    memory = {static_cast<char*>(base) + guard, size, guard};
  }
  errno = kept;
  return memory;
}

void unmap_stack(const StackMemory& memory) {
  const int kept = errno;
  munmap(memory.low - memory.guard, memory.size + memory.guard);
  errno = kept;
}

std::size_t default_stack_size() {
  constexpr std::size_t fallback = 8U << 20U;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return fallback;
  return limit.rlim_cur < 16 * page ? 16 * page : static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace weft::os
