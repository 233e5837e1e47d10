/* How many CPUs there are is asked when the runtime starts, not in the course of a construct, which it would cost more
 * than all the rest (files of /proc and /sys are read). A taskloop once did. Run with WEFT_NUM_WORKERS unset. */
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

static int asked;
static pid_t asker;

/* The runtime's calls come here too. */
int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* cpus) {
  if (gettid() == __atomic_load_n(&asker, __ATOMIC_RELAXED)) check_add(&asked, 1);
  const long result = syscall(SYS_sched_getaffinity, thread, size, cpus);
  return result < 0 ? -1 : 0;
}

static int sum;

static void constructs(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 4; ++i) check_add(&sum, 1);
#pragma omp barrier
#pragma omp single
    {
#pragma omp taskloop num_tasks(4)
      for (int i = 0; i < 4; ++i) check_add(&sum, 1);
#pragma omp taskloop grainsize(2)
      for (int i = 0; i < 4; ++i) check_add(&sum, 1);
#pragma omp task
      check_add(&sum, 1);
#pragma omp taskwait
    }
#pragma omp critical
    check_add(&sum, 1);
  }
}

int main(void) {
  check_runtime();
  asker = getpid();
  CHECK_GE(omp_get_num_procs(), 1);
  constructs();
  CHECK_GE(check_load(&asked), 1); /* those of the beginning are seen */
  check_store(&asked, 0);
  for (int i = 0; i < 100; ++i) constructs();
  CHECK_EQ(check_load(&asked), 0);
  CHECK_EQ(sum, 101 * 15);
  return check_finish();
}
