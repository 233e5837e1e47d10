/* omp_get_wtime, omp_get_wtick, omp_get_num_procs, priorities and other values that do not change. */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void clock_runs(void) {
  const double start = omp_get_wtime();
  struct timespec pause = {0, 50000000};
  /* The runtime's own signals must not cut a sleep short; but a member that has just been seen to spin
   * (docs/busy-waiting.md). */
  while (nanosleep(&pause, &pause) != 0) CHECK(check_where != CHECK_SERIAL && errno == EINTR);
  const long long milliseconds = (long long)((omp_get_wtime() - start) * 1000);
  CHECK_GE(milliseconds, 49);
  CHECK_LE(milliseconds, 30000);
  CHECK(omp_get_wtick() > 0 && omp_get_wtick() <= 0.001);
}

static void clock_is_monotonic(void) {
#pragma omp parallel num_threads(4)
  {
    double last = omp_get_wtime();
    for (int i = 0; i < 200; ++i) {
      const double now = omp_get_wtime();
      CHECK(now >= last);
      last = now;
    }
  }
}

static void body(void) {
  const int procs = omp_get_num_procs();
  clock_runs();
  clock_is_monotonic();
  CHECK_GE(procs, 1);
  CHECK_LE(procs, (int)sysconf(_SC_NPROCESSORS_CONF));
  CHECK_EQ(omp_get_max_task_priority(), 0);
  CHECK_EQ(omp_get_cancellation(), 0);
#pragma omp parallel num_threads(3)
  {
    CHECK_EQ(omp_get_num_procs(), procs);
    CHECK_EQ(omp_get_max_task_priority(), 0);
    CHECK_EQ(omp_get_cancellation(), 0);
    CHECK_EQ(omp_is_initial_device(), 1);
    CHECK_EQ(omp_get_initial_device(), omp_get_num_devices());
  }
}

CHECK_MAIN(body)
