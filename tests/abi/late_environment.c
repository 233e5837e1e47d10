/* What a program sets in its environment before it first uses OpenMP is heeded, although the library has been loaded.
 */
#include "check.h"

__attribute__((constructor)) static void set(void) {
  setenv("OMP_SCHEDULE", "guided,7", 1);
  setenv("OMP_MAX_TASK_PRIORITY", "5", 1);
  setenv("OMP_NUM_TEAMS_ALL", "3", 1);
  setenv("OMP_STACKSIZE", "3M", 1);
  setenv("OMP_TARGET_OFFLOAD", "mandatory", 1);
  setenv("OMP_NO_SUCH_THING", "1", 1);
}

static void body(void) {
  omp_sched_t kind;
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(kind & ~omp_sched_monotonic, omp_sched_guided);
  CHECK_EQ(chunk, 7);
  CHECK_EQ(omp_get_max_task_priority(), 5);
  CHECK_EQ(omp_get_max_teams(), 3);
  CHECK_EQ(omp_get_default_device(), -4); /* omp_invalid_device: there is none but the host */
  setenv("OMP_SCHEDULE", "dynamic,2", 1);
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(chunk, 7);
#pragma omp parallel num_threads(3)
  {
    volatile char room[2 << 20];
    room[0] = 1;
    CHECK_EQ(room[0], 1);
  }
}

CHECK_MAIN(body)
