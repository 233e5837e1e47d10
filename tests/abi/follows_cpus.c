/* The number of workers follows the CPUs that the process may use, while it runs. By omp_set_dynamic() a team has as
 * many members as there are workers at work, which is how this program sees it.
 *
 * "mask": the mask of all threads becomes narrower and wider again, as by taskset -a -p.
 * "widened": it was narrow at the start.
 * "own": only that of the main thread does; nothing changes but what omp_get_num_procs() says to it, and in a child.
 * "given": WEFT_NUM_WORKERS is set; nothing changes.
 * "fork": a child begins with as many as its parent has, and follows.
 * "quota": that of the cgroup, in a file system of this program's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

enum { skipped = 77 };

static cpu_set_t all, one;

static void set_masks(const cpu_set_t* cpus) {
  /* A thread that is started meanwhile has the mask of one that has been seen, or not yet. */
  for (int round = 0; round < 2; ++round) {
    DIR* threads = opendir("/proc/self/task");
    const struct dirent* entry;
    while ((entry = readdir(threads)) != NULL)
      if (entry->d_name[0] != '.') sched_setaffinity(atoi(entry->d_name), sizeof *cpus, cpus);
    closedir(threads);
  }
}

static int team_size(void) {
  int size = 0;
#pragma omp parallel num_threads(64)
  {
#pragma omp barrier
#pragma omp master
    size = omp_get_num_threads();
  }
  return size;
}

static void nap(void) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

static void becomes(int size) {
  for (int turn = 0; turn < 1000 && team_size() != size; ++turn) nap();
  CHECK_EQ(team_size(), size);
}

static void stays(int size) {
  for (int turn = 0; turn < 120; ++turn, nap()) CHECK_EQ(team_size(), size);
}

static int write_file(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int written = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
  if (file >= 0) close(file);
  return written;
}

static int follow_quota(void) {
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL) != 0)
    return skipped;
  char groups[8192];
  const int file = open("/proc/self/cgroup", O_RDONLY);
  const ssize_t length = read(file, groups, sizeof groups - 1);
  close(file);
  if (length <= 0) return skipped;
  groups[length] = '\0';
  if (strstr(groups, "0::/") == NULL) return skipped;
  CHECK(write_file("/sys/fs/cgroup/cgroup.controllers", "cpu\n"));
  const int cpus = CPU_COUNT(&all);
  becomes(cpus);
  CHECK(write_file("/sys/fs/cgroup/cpu.max", "50000 100000\n"));
  becomes(1);
  CHECK_EQ(omp_get_num_procs(), 1);
  CHECK(write_file("/sys/fs/cgroup/cpu.max", "150000 100000\n"));
  becomes(2);
  CHECK_EQ(omp_get_num_procs(), 2);
  CHECK(write_file("/sys/fs/cgroup/cpu.max", "max 100000\n"));
  becomes(cpus);
  CHECK_EQ(omp_get_num_procs(), cpus);
  return check_finish();
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  check_runtime();
  sched_getaffinity(0, sizeof all, &all);
  const int cpus = CPU_COUNT(&all);
  /* A quota of the cgroup that this runs in would cut the numbers that are expected; "quota" has one of its own. */
  if (cpus < 2 || (strcmp(what, "quota") != 0 && omp_get_num_procs() != cpus)) return skipped;
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_SET(first, &one);
  if (strcmp(what, "widened") == 0) set_masks(&one); /* before weft has started */
  omp_set_dynamic(1);
  if (strcmp(what, "quota") == 0) return follow_quota();

  if (strcmp(what, "widened") == 0) {
    CHECK_EQ(team_size(), 1);
    set_masks(&all);
    becomes(cpus);
    set_masks(&one);
    becomes(1);
    return check_finish();
  }
  if (strcmp(what, "given") == 0) {
    const int workers = atoi(getenv("WEFT_NUM_WORKERS"));
    CHECK_EQ(team_size(), workers);
    set_masks(&one);
    stays(workers);
    return check_finish();
  }
  CHECK_EQ(team_size(), cpus);
  if (strcmp(what, "mask") == 0) {
    for (int round = 0; round < 2; ++round) {
      set_masks(&one);
      becomes(1);
      CHECK_EQ(omp_get_num_procs(), 1);
      set_masks(&all);
      becomes(cpus);
      CHECK_EQ(omp_get_num_procs(), cpus);
    }
  } else if (strcmp(what, "own") == 0) {
    sched_setaffinity(0, sizeof one, &one);
    stays(cpus);
    CHECK_EQ(omp_get_num_procs(), 1);
    const pid_t child = fork(); /* all that is started there begins with that mask */
    if (child == 0) {
      becomes(1);
      return check_finish();
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
  } else if (strcmp(what, "fork") == 0) {
    set_masks(&one);
    becomes(1);
    const pid_t child = fork();
    if (child == 0) {
      CHECK_EQ(team_size(), 1);
      set_masks(&all);
      becomes(cpus);
      return check_finish();
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    stays(1);
  } else {
    return 2;
  }
  return check_finish();
}
