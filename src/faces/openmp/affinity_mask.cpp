#include "faces/openmp/affinity_mask.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/panic.h"

namespace weft::openmp {
namespace {

std::size_t mask_size() { return CPU_ALLOC_SIZE(static_cast<std::size_t>(most_cpus())); }

// What the process was given, as far as the kernel says so now: the mask of its first thread.
bool process_may_use(int cpu) {
  cpu_set_t* process = CPU_ALLOC(static_cast<std::size_t>(most_cpus()));
  if (process == nullptr) return true;
  const bool known = sched_getaffinity(getpid(), mask_size(), process) == 0;
  const bool may = !known || CPU_ISSET_S(static_cast<std::size_t>(cpu), mask_size(), process) != 0;
  CPU_FREE(process);
  return may;
}

int check(int cpu, const void* mask) {
  if (mask == nullptr || cpu < 0 || cpu >= most_cpus()) return -1;
  return process_may_use(cpu) ? 0 : -2;
}

}  // namespace

int most_cpus() {
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  return configured > CPU_SETSIZE ? static_cast<int>(configured) : CPU_SETSIZE;
}

void* new_affinity_mask() {
  cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(most_cpus()));
  if (mask == nullptr) base::panic("no memory for an affinity mask");
  CPU_ZERO_S(mask_size(), mask);
  return mask;
}

void delete_affinity_mask(void* mask) { CPU_FREE(static_cast<cpu_set_t*>(mask)); }

int add_to_affinity_mask(int cpu, void* mask) {
  if (const int problem = check(cpu, mask); problem != 0) return problem;
  CPU_SET_S(static_cast<std::size_t>(cpu), mask_size(), static_cast<cpu_set_t*>(mask));
  return 0;
}

int remove_from_affinity_mask(int cpu, void* mask) {
  if (const int problem = check(cpu, mask); problem != 0) return problem;
  CPU_CLR_S(static_cast<std::size_t>(cpu), mask_size(), static_cast<cpu_set_t*>(mask));
  return 0;
}

int is_in_affinity_mask(int cpu, const void* mask) {
  if (const int problem = check(cpu, mask); problem != 0) return problem == -2 ? 0 : problem;
  return CPU_ISSET_S(static_cast<std::size_t>(cpu), mask_size(), static_cast<const cpu_set_t*>(mask)) ? 1 : 0;
}

int set_thread_affinity(const void* mask) {
  if (mask == nullptr) return -1;
  return sched_setaffinity(0, mask_size(), static_cast<const cpu_set_t*>(mask)) == 0 ? 0 : errno;
}

int get_thread_affinity(void* mask) {
  if (mask == nullptr) return -1;
  return sched_getaffinity(0, mask_size(), static_cast<cpu_set_t*>(mask)) == 0 ? 0 : errno;
}

}  // namespace weft::openmp
