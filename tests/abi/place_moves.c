/* A thread of the program that waits for the region that it has opened comes upon members of the region around, which
 * it may not run. They stay at its place: else the kernel threads of others would be bound to that CPU, on which the
 * thread spins, for each of them. Run with OMP_PLACES={0},{1} and two workers. */
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>

#include "check.h"

static int moves;

/* The runtime's calls come here too. */
int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* cpus) {
  check_add(&moves, 1);
  return (int)syscall(SYS_sched_setaffinity, thread, size, cpus);
}

static void nested_regions(int count) {
  int members = 0;
  for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(8)
#pragma omp parallel num_threads(4)
    check_add(&members, 1);
  }
  CHECK_EQ(members, 32 * count);
}

/* And yet, what such a member has to do must come about, if another one spins for it on that thread. */
static void spin_for_the_region_around(void) {
  for (int again = 0; again < 3; ++again) {
    int flag = 0;
#pragma omp parallel num_threads(4)
    {
      const int number = omp_get_thread_num();
      if (number == 1) check_store(&flag, 1);
#pragma omp parallel num_threads(2) if (number == 0)
      while (number == 0 && !check_load(&flag)) check_work(10);
    }
    CHECK_EQ(flag, 1);
  }
}

int main(void) {
  check_runtime();
  if (omp_get_num_places() != 2) {
    puts("not run: CPUs 0 and 1 are not both usable");
    return 0;
  }
  omp_set_max_active_levels(2);
  CHECK_GE(omp_get_place_num(), 0);
  nested_regions(1);
  CHECK_GE(check_load(&moves), 1); /* those of the beginning are seen */
  /* A thread that has slept for want of a CPU is bound anew, which on a busy machine is most of them at times. */
  int fewest = INT_MAX;
  const double end = omp_get_wtime() + 30;
  for (int attempt = 0; fewest > 100 && (attempt < 20 || omp_get_wtime() < end); ++attempt) {
    check_store(&moves, 0);
    nested_regions(200);
    if (check_load(&moves) < fewest) fewest = check_load(&moves);
  }
  CHECK_LE(fewest, 100);
  spin_for_the_region_around();
  return check_finish();
}
