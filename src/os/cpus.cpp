#include "os/cpus.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/system_call.h"
#include "os/text_file.h"

namespace weft::os {
namespace {

// "max 100000" or "150000 100000"; 0 if there is no quota.
int quota_of(const char* group_folder) {
  char path[1200];
  char text[64];
  snprintf(path, sizeof path, "%s/cpu.max", group_folder);
  if (read_file(path, text) <= 0) return 0;
  char* rest = nullptr;
  const long long quota = strtoll(text, &rest, 10);
  if (rest == text) return 0;
  const long long period = strtoll(rest, nullptr, 10);
  if (quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

bool find_group(char* folder, std::size_t size, std::size_t* root_length) {
  char text[1024];
  if (read_file("/proc/self/cgroup", text) <= 0) return false;
  char* line = strstr(text, "0::/");
  if (line == nullptr || (line != text && line[-1] != '\n')) return false;
  line += 3;
  line[strcspn(line, "\n")] = '\0';
  const char* mount =
      access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified";
  *root_length = strlen(mount);
  snprintf(folder, size, "%s%s", mount, line);
  return true;
}

}  // namespace

int cpus_in_affinity_mask() {
  constexpr std::size_t most_cpus = 8192;
  cpu_set_t* set = CPU_ALLOC(most_cpus);
  if (set == nullptr) return 1;
  const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
  CPU_ZERO_S(bytes, set);
  const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 1;
  CPU_FREE(set);
  return count > 0 ? count : 1;
}

int cpus_in_cgroup_quota() {
  const int kept = errno;
  char folder[1100];
  std::size_t root_length = 0;
  int least = 0;
  if (find_group(folder, sizeof folder, &root_length)) {
    for (;;) {
      const int quota = quota_of(folder);
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
      char* slash = strrchr(folder, '/');
      if (slash == nullptr || static_cast<std::size_t>(slash - folder) < root_length) break;
      *slash = '\0';
    }
  }
  errno = kept;
  return least;
}

int usable_cpus() {
  const int mask = cpus_in_affinity_mask();
  const int quota = cpus_in_cgroup_quota();
  return quota > 0 && quota < mask ? quota : mask;
}

// The kernel's mask is an array of longs in which CPU n is bit n, as CpuSet is.
CpuSet own_cpus() {
  static_assert(sizeof(long) == sizeof(std::uint64_t));
  CpuSet cpus;
  if (sched_getaffinity(0, sizeof cpus.words, reinterpret_cast<cpu_set_t*>(cpus.words)) != 0) return CpuSet{};
  return cpus;
}

bool bind_this_klt(const CpuSet& cpus) {
  return sched_setaffinity(0, sizeof cpus.words, reinterpret_cast<const cpu_set_t*>(cpus.words)) == 0;
}

namespace {

cpu_set_t at_start;

}  // namespace

// Of the main thread: the calling one may have been bound by the program.
void remember_cpus() {
  if (sched_getaffinity(getpid(), sizeof at_start, &at_start) != 0) sched_getaffinity(0, sizeof at_start, &at_start);
}

bool bind_klt(int klt, int cpu) {
  cpu_set_t set = at_start;
  if (cpu >= 0) {
    if (cpu >= CPU_SETSIZE) return false;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
  } else if (cpu != -1) {
    return false;
  }
  return arch::system_call(SYS_sched_setaffinity, klt, sizeof set, reinterpret_cast<long>(&set)) == 0;
}

bool bind_klt(int klt, const CpuSet& cpus) {
  return arch::system_call(SYS_sched_setaffinity, klt, sizeof cpus.words, reinterpret_cast<long>(cpus.words)) == 0;
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
  CpuSet only;
  only.add(cpu);
  return bind_klt(klt, only);
}

}  // namespace weft::os
