/* Members that all run at once are each on the CPUs of their place; so is the thread that opens regions, before and
 * after. Run with OMP_PLACES={0},{1} and as many workers as places. */
#include "place.h"

#include <sys/wait.h>

/* Whether both were. */
static int all_at_once(void) {
  int arrived = 0, in_place = 0;
#pragma omp parallel num_threads(2)
  {
    check_add(&arrived, 1);
    while (check_load(&arrived) < 2) check_work(10);
    CHECK_EQ(omp_get_place_num(), omp_get_thread_num());
    check_add(&in_place, is_in_place());
  }
  return in_place == 2;
}

/* The clause does what it says beside a reduction over tasks, for which gcc has an entry point of its own. */
static void clause_and_tasks(void) {
  int members = 0;
#pragma omp parallel num_threads(2) proc_bind(spread) reduction(task, + : members)
  {
    CHECK_EQ(omp_get_partition_num_places(), 1);
    CHECK_EQ(omp_get_place_num(), omp_get_thread_num());
    members++;
  }
#pragma omp parallel num_threads(2) proc_bind(close) reduction(task, + : members)
  {
    CHECK_EQ(omp_get_partition_num_places(), 2);
    CHECK_EQ(omp_get_place_num(), omp_get_thread_num());
    members++;
  }
#pragma omp parallel num_threads(2) proc_bind(primary) reduction(task, + : members)
  {
    CHECK_EQ(omp_get_place_num(), 0);
    members++;
  }
  CHECK_EQ(members, 6);
}

/* What a cgroup's quota leaves of the process's CPUs, as the exit status of a process that has no places. */
static int procs_without_places(const cpu_set_t* mask) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    char name[] = "place_bound", argument[] = "procs";
    char* arguments[] = {name, argument, NULL};
    sched_setaffinity(0, sizeof *mask, mask);
    unsetenv("OMP_PLACES");
    unsetenv("OMP_PROC_BIND");
    execv("/proc/self/exe", arguments);
    _exit(0);
  }
  CHECK_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return omp_get_num_procs();
  cpu_set_t mask;
  check_runtime();
  if (sched_getaffinity(0, sizeof mask, &mask) != 0 || !CPU_ISSET(0, &mask) || !CPU_ISSET(1, &mask)) {
    puts("not run: CPUs 0 and 1 are not both usable");
    return 0;
  }
  CHECK_EQ(omp_get_num_places(), 2);
  CHECK(omp_get_proc_bind() != omp_proc_bind_false);
  int good = 0;
  for (int again = 0; again < 200; ++again) good += all_at_once();
  CHECK_EQ(good, 200);
  clause_and_tasks();
  CHECK_EQ(omp_get_place_num(), 0);
  CHECK(is_in_place());
  CHECK_EQ(omp_get_num_procs() & 0xff, procs_without_places(&mask)); /* those of the process, not of the place */
  return check_failures != 0;
}
