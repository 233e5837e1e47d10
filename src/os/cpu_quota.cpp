#include "os/cpu_quota.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#include "os/text_file.h"

namespace weft::os {
namespace {

// A folder of the cgroup file system. Members' stacks may be small.
struct Folder {
  char path[1152];
  std::size_t length;  // of the folder's own

  bool read(const char* name, char (&text)[64]) {
    snprintf(path + length, sizeof path - length, "/%s", name);
    return read_file(path, text) > 0;
  }
};

// 0: none, which the kernel writes as "max" (v2) or -1 (v1).
int cpus_of(long long quota, long long period) {
  if (quota <= 0 || period <= 0) return 0;
  const long long cpus = (quota - 1) / period + 1;
  return static_cast<int>(std::min<long long>(cpus, INT_MAX));  // (Bug: 4294967297 of them were one.)
}

// "max 100000" or "150000 100000"
int quota_of_v2(Folder& folder) {
  char text[64];
  if (!folder.read("cpu.max", text)) return 0;
  char* rest = nullptr;
  const long long quota = strtoll(text, &rest, 10);
  return rest != text ? cpus_of(quota, strtoll(rest, nullptr, 10)) : 0;
}

int quota_of_v1(Folder& folder) {
  char quota[64];
  char period[64];
  if (!folder.read("cpu.cfs_quota_us", quota) || !folder.read("cpu.cfs_period_us", period)) return 0;
  return cpus_of(strtoll(quota, nullptr, 10), strtoll(period, nullptr, 10));
}

// "4:cpu,cpuacct:/some/group"; of v2 "0::/some/group". Whether this is the line of that controller, "" that of v2.
bool is_of(const char* line, const char* controller) {
  const char* word = strchr(line, ':');
  if (word == nullptr) return false;
  if (*controller == '\0') return strncmp(line, "0::", 3) == 0;
  const std::size_t length = strlen(controller);
  do {
    ++word;
    if (strncmp(word, controller, length) == 0 && (word[length] == ',' || word[length] == ':')) return true;
    word += strcspn(word, ",:\n");
  } while (*word == ',');
  return false;
}

// nullptr: it is the line of another controller.
const char* group_of(const char* line, const char* controller) {
  if (!is_of(line, controller)) return nullptr;
  const char* end = strchr(strchr(line, ':') + 1, ':');
  return end != nullptr && end[1] == '/' ? end + 1 : nullptr;
}

// The least of the group's and of those above it, to the mount. A container of v1 has its own group mounted there, and
// is told the path that the group has outside: what is missing is passed over.
int least_quota(const char* mount, const char* group, int (*quota_of)(Folder& folder)) {
  Folder folder;
  const std::size_t root_length = strlen(mount);
  const std::size_t length = strlen(group);
  const std::size_t most = sizeof folder.path - 32;  // leaves room for a name
  if (root_length + length > most) return 0;
  memcpy(folder.path, mount, root_length);
  memcpy(folder.path + root_length, group, length);
  folder.length = root_length + length;
  int least = 0;
  for (;;) {
    const int quota = quota_of(folder);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (folder.length <= root_length) return least;
    do --folder.length;
    while (folder.path[folder.length] != '/');
  }
}

}  // namespace

// Line by line: where groups lie deep within others, a dozen of long lines may come before. (Bug: no more than 4 KiB of
// them were seen.)
int cpus_in_cgroup_quota() {
  const int kept = errno;
  int least = 0;
  const auto take = [&least](int quota) {
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  };
  read_lines("/proc/self/cgroup", [take](const char* line) {
    if (const char* group = group_of(line, ""); group != nullptr) {
      const bool alone = access("/sys/fs/cgroup/cgroup.controllers", R_OK) == 0;
      take(least_quota(alone ? "/sys/fs/cgroup" : "/sys/fs/cgroup/unified", group, quota_of_v2));
    }
    if (const char* group = group_of(line, "cpu"); group != nullptr)
      take(least_quota("/sys/fs/cgroup/cpu", group, quota_of_v1));
    return true;
  });
  errno = kept;
  return least;
}

}  // namespace weft::os
