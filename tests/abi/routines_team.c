/* Team and ICV routines in the serial part, in regions, nested regions, tasks and final tasks. */
#include "check.h"

static void serial_part(void) {
  CHECK_EQ(omp_get_num_threads(), 1);
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_level(), 0);
  CHECK_EQ(omp_get_active_level(), 0);
  CHECK_EQ(omp_in_parallel(), 0);
  CHECK_EQ(omp_in_final(), 0);
  CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
  CHECK_EQ(omp_get_team_size(0), 1);
  CHECK_EQ(omp_get_ancestor_thread_num(1), -1);
  CHECK_EQ(omp_get_team_size(1), -1);
  CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
  CHECK_EQ(omp_get_team_size(-1), -1);
}

static void defaults(void) {
  omp_sched_t kind;
  int chunk;
  CHECK_EQ(omp_get_max_threads(), atoi(getenv("OMP_NUM_THREADS")));
  CHECK_EQ(omp_get_dynamic(), 0);
  CHECK_EQ(omp_get_max_active_levels(), 1);
  CHECK_GE(omp_get_thread_limit(), 1000000);
  CHECK_GE(omp_get_num_procs(), 1);
  CHECK_GE(omp_get_supported_active_levels(), 6);
  CHECK_EQ(omp_get_cancellation(), 0);
  CHECK_EQ(omp_get_max_task_priority(), 0);
  omp_get_schedule(&kind, &chunk);
#ifdef __clang__ /* libomp's default, and libgomp's */
  CHECK_EQ(kind, omp_sched_static);
  CHECK_EQ(chunk, 0);
#else
  CHECK_EQ(kind & 0x7fffffff, omp_sched_dynamic);
  CHECK_EQ(chunk, 1);
#endif
}

static void devices_and_teams(void) {
  CHECK_EQ(omp_get_num_devices(), 0);
  CHECK_EQ(omp_get_initial_device(), 0);
  CHECK_EQ(omp_get_default_device(), 0);
  CHECK_EQ(omp_is_initial_device(), 1);
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
  CHECK_EQ(omp_get_device_num(), 0);
  CHECK_EQ(omp_get_max_teams(), 0);
  CHECK_EQ(omp_get_teams_thread_limit(), 0);
  omp_set_default_device(3);
  CHECK_EQ(omp_get_default_device(), 3);
#pragma omp parallel num_threads(3)
  {
    CHECK_EQ(omp_get_default_device(), 3);
    omp_set_default_device(omp_get_thread_num());
    CHECK_EQ(omp_get_default_device(), omp_get_thread_num());
    CHECK_EQ(omp_is_initial_device(), 1);
    CHECK_EQ(omp_get_num_teams(), 1);
    CHECK_EQ(omp_get_team_num(), 0);
  }
  CHECK_EQ(omp_get_default_device(), 3);
  omp_set_default_device(0);
}

/* ICVs that a routine changes belong to the calling task's data environment: the region's members inherit them, and
 * what a member changes stays with it. */
static void scope_of_icvs(void) {
  omp_sched_t kind;
  int chunk;
  const int threads = omp_get_max_threads();
  omp_set_num_threads(5);
  omp_set_dynamic(1);
  omp_set_max_active_levels(4);
  omp_set_schedule(omp_sched_guided, 7);
#pragma omp parallel num_threads(4)
  {
    omp_sched_t inner_kind;
    int inner_chunk;
    CHECK_EQ(omp_get_max_threads(), 5);
    CHECK_EQ(omp_get_dynamic(), 1);
    CHECK_EQ(omp_get_max_active_levels(), 4);
    omp_get_schedule(&inner_kind, &inner_chunk);
    CHECK_EQ(inner_kind, omp_sched_guided);
    CHECK_EQ(inner_chunk, 7);
#pragma omp barrier
    omp_set_num_threads(10 + omp_get_thread_num());
    omp_set_dynamic(0);
    omp_set_schedule(omp_sched_static, 100 + omp_get_thread_num());
#pragma omp barrier
    CHECK_EQ(omp_get_max_threads(), 10 + omp_get_thread_num());
    CHECK_EQ(omp_get_dynamic(), 0);
    omp_get_schedule(&inner_kind, &inner_chunk);
    CHECK_EQ(inner_kind, omp_sched_static);
    CHECK_EQ(inner_chunk, 100 + omp_get_thread_num());
  }
  CHECK_EQ(omp_get_max_threads(), 5);
  CHECK_EQ(omp_get_dynamic(), 1);
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(kind, omp_sched_guided);
  CHECK_EQ(chunk, 7);
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  omp_set_max_active_levels(1);
}

/* An explicit task inherits the ICVs of the task that creates it and does not change them. */
static void icvs_of_tasks(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  {
    int seen[8] = {0};
    omp_set_num_threads(21);
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(seen)
      {
        seen[i] = omp_get_max_threads();
        omp_set_num_threads(30 + i);
        CHECK_EQ(omp_get_max_threads(), 30 + i);
      }
    }
#pragma omp taskwait
    for (int i = 0; i < 8; ++i) CHECK_EQ(seen[i], 21);
    CHECK_EQ(omp_get_max_threads(), 21);
  }
}

static void in_tasks(void) {
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task
    {
      CHECK_EQ(omp_get_num_threads(), 4);
      CHECK(omp_get_thread_num() >= 0 && omp_get_thread_num() < 4);
      CHECK_EQ(omp_get_level(), 1);
      CHECK_EQ(omp_get_active_level(), 1);
      CHECK_EQ(omp_in_parallel(), 1);
      CHECK_EQ(omp_in_final(), 0);
      CHECK_EQ(omp_get_team_size(1), 4);
      CHECK_EQ(omp_get_ancestor_thread_num(1), omp_get_thread_num());
    }
#pragma omp task final(i % 2)
    CHECK_EQ(omp_in_final(), i % 2);
  }
}

static void limits(void) {
  const int supported = omp_get_supported_active_levels();
  omp_set_max_active_levels(supported + 1000);
  CHECK_EQ(omp_get_max_active_levels(), supported);
  omp_set_max_active_levels(0);
  CHECK_EQ(omp_get_max_active_levels(), 0);
#pragma omp parallel num_threads(4)
  {
    CHECK_EQ(omp_get_num_threads(), 1);
    CHECK_EQ(omp_in_parallel(), 0);
    CHECK_EQ(omp_get_level(), 1);
    CHECK_EQ(omp_get_active_level(), 0);
  }
  omp_set_max_active_levels(1);
  omp_set_max_active_levels(-3); /* ignored */
  CHECK_EQ(omp_get_max_active_levels(), 1);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void nested(void) {
  CHECK_EQ(omp_get_nested(), 0);
  omp_set_nested(1);
  CHECK_EQ(omp_get_nested(), 1);
  CHECK_GE(omp_get_max_active_levels(), 2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  CHECK_EQ(omp_get_num_threads(), 2);
  omp_set_nested(0);
  CHECK_EQ(omp_get_nested(), 0);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  CHECK_EQ(omp_get_num_threads(), 1);
}

static void body(void) {
  serial_part();
  defaults();
  devices_and_teams();
  scope_of_icvs();
  icvs_of_tasks();
  in_tasks();
  limits();
  nested();
  serial_part();
}

CHECK_MAIN_FLAT(body)
