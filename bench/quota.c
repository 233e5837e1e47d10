// OpenMP in a cgroup that allows less than the machine's CPUs, as containers have it: the kernel lets `cpus` CPUs'
// worth of time be used in each 100 ms, and then stops the whole group. Who spins spends what others could compute
// with.
//
//   cpus=C,members=N     a region of N members, in which LOOPS loops of `region` cycles in all follow each other
//
// A child does it all, in a cgroup made for it: of version 1 or, where the controller is on, of version 2. A run is
// ROUNDS regions, long enough for the kernel's periods to even out.
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "work.h"

enum { PIECES = 16, LOOPS = 10, ROUNDS = 500, PERIOD_US = 100000 };

typedef struct {
  int members;
  uint64_t piece_steps;
  uint64_t sum;  // what the first loop computed
  bool wrong;
} Case;

static void regions(void* argument) {
  Case* c = argument;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t sums[LOOPS] = {0};
#pragma omp parallel num_threads(c->members)
    for (int loop = 0; loop < LOOPS; loop++) {
      uint64_t* sum = &sums[loop];
      uint64_t own = 0;
#pragma omp for schedule(static) nowait
      for (int piece = 0; piece < PIECES; piece++) own += work_steps((uint64_t)piece + 1, c->piece_steps);
#pragma omp atomic
      *sum += own;
#pragma omp barrier
    }
    if (c->sum == 0) c->sum = sums[0];
    for (int loop = 0; loop < LOOPS; loop++) c->wrong |= sums[loop] != c->sum;
  }
}

// --- the cgroup
// ------------------------------------------------------------------------------------------------------

static char group[PATH_MAX];

static bool write_in(const char* folder, const char* name, const char* value) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, value, strlen(value)) == (ssize_t)strlen(value);
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

// This process's own group of version 2, or of version 1's controller of CPU time, as a folder.
static bool own_group(bool version_1, char* folder, size_t size) {
  FILE* lines = fopen("/proc/self/cgroup", "re");
  char line[PATH_MAX];
  bool found = false;
  while (lines && !found && fgets(line, sizeof line, lines)) {
    line[strcspn(line, "\n")] = '\0';
    char* controllers = strchr(line, ':');
    char* path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) continue;
    *path++ = '\0';
    found = strstr(text(",%s,", controllers + 1), version_1 ? ",cpu," : ",,") != NULL;
    if (found) snprintf(folder, size, "/sys/fs/cgroup%s%s", version_1 ? "/cpu" : "", path);
  }
  if (lines) fclose(lines);
  return found;
}

static void remove_group(void) {
  for (int turn = 0; turn < 100 && rmdir(group) != 0 && errno == EBUSY; turn++) usleep(10000);
}

// Leaves in errno why not.
static bool make_group(double cpus) {
  for (int version_1 = 1; version_1 >= 0; version_1--) {
    char parent[PATH_MAX - 64];
    if (!own_group(version_1 != 0, parent, sizeof parent)) continue;
    snprintf(group, sizeof group, "%s/weft-bench-%d", parent, (int)getpid());
    if (mkdir(group, 0755) != 0) continue;
    const int quota = (int)(cpus * PERIOD_US);
    if (version_1 ? write_in(group, "cpu.cfs_period_us", text("%d", PERIOD_US)) &&
                        write_in(group, "cpu.cfs_quota_us", text("%d", quota))
                  : write_in(group, "cpu.max", text("%d %d", quota, PERIOD_US)))
      return true;
    const int error = errno;
    remove_group();
    errno = error;
  }
  return false;
}

// --- measuring
// -------------------------------------------------------------------------------------------------------

static void run(const Options* options, const char* config) {
  const double cpus = config_number(config, "cpus", 1), region = config_number(config, "region", 500000);
  Case c = {.members = config_int(config, "members", 8), .piece_steps = steps_for(region / LOOPS / PIECES)};
  if (cpus < 0.01 || c.members < 1) fail("cpus must be 0.01 or more, members 1 or more: %s", config);
  check_keys(config);
  if (!make_group(cpus)) fail("no cgroup with a quota can be made here: %s", strerror(errno));
  fflush(NULL);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || !write_in(group, "cgroup.procs", "0")) fail("%s: cannot be entered", group);
    const Samples samples = measure(options, 0, regions, &c);
    const double usable = cpus < available_cpus ? cpus : available_cpus;
    const double ideal = ideal_us((double)ROUNDS * LOOPS * PIECES * (double)c.piece_steps, 1);
    print_result("quota", config, text("\"cpus\": %g, \"members\": %d, \"region\": %.0f", cpus, c.members, region),
                 &samples, ideal / (usable < c.members ? usable : c.members), !c.wrong, "");
    exit(0);
  }
  int status = 0;
  const bool well = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  remove_group();
  if (!well) fail("the process in the group ended badly: %s", config);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"cpus=1,members=2", "cpus=1,members=8", "cpus=0.5,members=2"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  calibrate_work();
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
