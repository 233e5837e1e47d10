#include "os/cpus.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/system_call.h"

namespace weft::os {

// The kernel's mask is an array of longs in which CPU n is bit n, as CpuSet is.
CpuSet own_cpus() {
  static_assert(sizeof(long) == sizeof(std::uint64_t));
  CpuSet cpus;
  if (sched_getaffinity(0, sizeof cpus.words, reinterpret_cast<cpu_set_t*>(cpus.words)) != 0) return CpuSet{};
  return cpus;
}

// For more CPUs than a CpuSet has room for, too; few machines have them, and to clear and count so many more words
// takes as long as the system call. Nothing is allocated: the watchdog asks.
int cpus_in_affinity_mask() {
  if (const int count = own_cpus().count(); count > 0) return count;
  unsigned long mask[8192 / (8 * sizeof(unsigned long))] = {};
  if (sched_getaffinity(0, sizeof mask, reinterpret_cast<cpu_set_t*>(mask)) != 0) return 1;
  int count = 0;
  for (const unsigned long word : mask) count += __builtin_popcountl(word);
  return count > 0 ? count : 1;
}

bool bind_this_klt(const CpuSet& cpus) {
  return sched_setaffinity(0, sizeof cpus.words, reinterpret_cast<const cpu_set_t*>(cpus.words)) == 0;
}

CpuSet cpus_of_klt(int klt) {
  CpuSet cpus;
  arch::system_call(SYS_sched_getaffinity, klt, sizeof cpus.words, reinterpret_cast<long>(cpus.words));
  return cpus;
}

bool bind_klt(int klt, const CpuSet& cpus) {
  return arch::system_call(SYS_sched_setaffinity, klt, sizeof cpus.words, reinterpret_cast<long>(cpus.words)) == 0;
}

namespace {

CpuSet at_start;

}  // namespace

// Of the main thread: the calling one may have been bound by the program. (Bug: of a machine with more than 1024 CPUs
// nothing was remembered, as libc's set has no room for more.)
void remember_cpus() {
  at_start = cpus_of_klt(getpid());
  if (at_start.count() == 0) at_start = own_cpus();
}

CpuSet cpus_at_start() { return at_start; }

bool bind_klt(int klt, int cpu) {
  if (cpu == -1) return bind_klt(klt, at_start);
  if (!CpuSet::in_range(cpu)) return false;
  CpuSet only;
  only.add(cpu);
  return bind_klt(klt, only);
}

int this_cpu() {
  unsigned cpu = 0;
  return arch::system_call(SYS_getcpu, reinterpret_cast<long>(&cpu), 0, 0) == 0 ? static_cast<int>(cpu) : -1;
}

bool move_sleeping_klt(int klt, int cpu, CpuSet& before) {
  if (!CpuSet::in_range(cpu)) return false;
  before = {};
  const long got =
      arch::system_call(SYS_sched_getaffinity, klt, sizeof before.words, reinterpret_cast<long>(before.words));
  if (got <= 0 || !before.has(cpu)) return false;
  return bind_klt(klt, cpu);
}

}  // namespace weft::os
