#include "os/stack_memory.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/panic.h"
#include "os/libraries.h"
#include "os/linker_lock.h"
#include "os/pages.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, end) 0U
#define VALGRIND_STACK_DEREGISTER(number) ((void)(number))
#endif

namespace weft::os {
namespace {

// Linux 6.13: a guard inside a mapping, so that vm.max_map_count does not limit the number of stacks. Before, a guard
// is a mapping of its own, and so is the stack above it: with the usual limit some 32,700 have one. Those that follow
// merge with their neighbours, and cost no mapping.
constexpr int madv_guard_install = 102;

// Compilers do not probe the stack by default; a large automatic array may jump over one page.
std::size_t guard_for(std::size_t size) { return size >= (256U << 10U) ? 16 * page : page; }

std::atomic<unsigned long long> loads_seen{0};  // of libraries, when all were last looked at
std::atomic<bool> some_need_executable{false};  // for good, as libc has it

bool needs_executable_stacks(const dl_phdr_info& object) {
  if (strncmp(object.dlpi_name, "linux-vdso", strlen("linux-vdso")) == 0) return false;
  for (int index = 0; index < object.dlpi_phnum; ++index)
    if (object.dlpi_phdr[index].p_type == PT_GNU_STACK) return (object.dlpi_phdr[index].p_flags & PF_X) != 0;
  return true;  // it was built before there was such an entry
}

int look_at_object(dl_phdr_info* object, std::size_t, void* loads_before) {
  if (object->dlpi_adds == *static_cast<unsigned long long*>(loads_before)) return 1;
  loads_seen.store(object->dlpi_adds, std::memory_order_relaxed);
  if (!needs_executable_stacks(*object)) return 0;
  some_need_executable.store(true, std::memory_order_relaxed);
  return 1;
}

bool stacks_are_executable() {
  unsigned long long loads_before = loads_seen.load(std::memory_order_relaxed);
  if (!some_need_executable.load(std::memory_order_relaxed)) for_each_object(look_at_object, &loads_before);
  return some_need_executable.load(std::memory_order_relaxed);
}

// For a new stack. Whoever holds the linker's lock may wait for a worker, and all workers for stacks: then it is as it
// was at the last look, and code on the stack is allowed when some is run there. (Bug: members waited for ever for one
// that read the clock in a callback of dl_iterate_phdr(), where others had their turn.)
bool shall_be_executable() {
  const bool has_looked = loads_seen.load(std::memory_order_relaxed) != 0;
  if (has_looked && linker_lock() == Held::yes) return some_need_executable.load(std::memory_order_relaxed);
  return stacks_are_executable();
}

bool make_guard(void* base, std::size_t size) {
  return madvise(base, size, madv_guard_install) == 0 || mprotect(base, size, PROT_NONE) == 0;
}

void say_that_there_is_no_guard() {
  static std::atomic<bool> said{false};
  if (!said.exchange(true, std::memory_order_relaxed))
    base::warn(
        "so many stacks that the kernel has no mappings left to guard them: overflows of further ones will not be "
        "noticed; raise vm.max_map_count, or use Linux 6.13 or later");
}

void* map(std::size_t size, int protection) {
  return mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
}

}  // namespace

StackMemory map_stack(std::size_t size) {
  const int kept = errno;
  const std::size_t guard = guard_for(size);
  constexpr int data = PROT_READ | PROT_WRITE;
  void* base = shall_be_executable() ? map(size + guard, data | PROT_EXEC) : MAP_FAILED;
  if (base == MAP_FAILED) base = map(size + guard, data);  // or that is not allowed here
  StackMemory memory;
  if (base != MAP_FAILED) {
    const bool guarded = make_guard(base, guard);
    if (!guarded) say_that_there_is_no_guard();
    char* low = static_cast<char*>(base) + (guarded ? guard : 0);
    char* end = static_cast<char*>(base) + guard + size;
    memory = {low, static_cast<std::size_t>(end - low), guarded ? guard : 0, VALGRIND_STACK_REGISTER(low, end)};
  }
  errno = kept;
  return memory;
}

bool make_executable(const StackMemory& memory) {
  return stacks_are_executable() && mprotect(memory.low, memory.size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

void unmap_stack(const StackMemory& memory) {
  const int kept = errno;
  VALGRIND_STACK_DEREGISTER(memory.valgrind_number);
  char* base = memory.low - memory.guard;
  const std::size_t size = memory.size + memory.guard;
  // In the midst of others without a guard it would make one mapping more.
  if (munmap(base, size) != 0) madvise(base, size, MADV_DONTNEED);
  errno = kept;
}

std::size_t default_stack_size() {
  constexpr std::size_t fallback = 8U << 20U;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return fallback;
  return limit.rlim_cur < 16 * page ? 16 * page : static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace weft::os
