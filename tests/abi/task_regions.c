/* Regions and tasks inside each other: a region in a task, in a region; tasks outside any region. */
#include "check.h"

static void region_in_a_task(void) {
  int members = 0, tasks = 0;
  const int level = omp_get_level();
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 12; ++i) {
#pragma omp task shared(members, tasks)
    {
      const int me = omp_get_thread_num();
#pragma omp parallel num_threads(3)
      {
        CHECK_EQ(omp_get_num_threads(), 3);
        CHECK_EQ(omp_get_level(), level + 2);
        CHECK_EQ(omp_get_ancestor_thread_num(level + 1), me);
        CHECK_EQ(omp_get_team_size(level + 1), 4);
        check_add(&members, 1);
#pragma omp single
        for (int k = 0; k < 4; ++k) {
#pragma omp task shared(tasks)
          {
            CHECK_EQ(omp_get_num_threads(), 3);
            check_add(&tasks, 1);
          }
        }
      }
      CHECK_EQ(omp_get_num_threads(), 4);
      CHECK_EQ(omp_get_thread_num(), me);
      CHECK_EQ(omp_get_level(), level + 1);
    }
  }
  CHECK_EQ(members, 36);
  CHECK_EQ(tasks, 48);
}

/* A region in a task in a region in a task. */
static void alternating(int depth, int* leaves) {
  if (depth == 0) {
    check_add(leaves, 1);
    return;
  }
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 2; ++i) {
#pragma omp task shared(leaves)
    alternating(depth - 1, leaves);
  }
}

static void loops_in_tasks(void) {
  int done = 0;
#pragma omp parallel num_threads(3)
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 9; ++i) {
#pragma omp task shared(done)
      {
#pragma omp parallel for num_threads(2) schedule(dynamic)
        for (int k = 0; k < 10; ++k) check_add(&done, 1);
      }
    }
  }
  CHECK_EQ(done, 90);
}

/* A region with barriers in a task, while the other members of the outer team wait at their barrier. */
static void barriers_in_tasks(void) {
  int wrong = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp single nowait
    for (int i = 0; i < 8; ++i) {
#pragma omp task shared(wrong)
      {
        int phase[3] = {0, 0, 0};
#pragma omp parallel num_threads(3)
        for (int k = 1; k <= 20; ++k) {
          check_store(&phase[omp_get_thread_num()], k);
#pragma omp barrier
          for (int other = 0; other < 3; ++other)
            if (check_load(&phase[other]) < k) check_add(&wrong, 1);
#pragma omp barrier
        }
      }
    }
#pragma omp barrier
  }
  CHECK_EQ(wrong, 0);
}

static void tasks_where_the_body_stands(void) {
  int done = 0;
  for (int i = 0; i < 30; ++i) {
#pragma omp task shared(done)
    {
      check_add(&done, 1);
#pragma omp task shared(done)
      check_add(&done, 1);
#pragma omp taskwait
    }
  }
#pragma omp taskwait
  CHECK_EQ(check_load(&done), 60);
#pragma omp taskgroup
  {
#pragma omp task shared(done)
    check_add(&done, 1);
  }
  CHECK_EQ(check_load(&done), 61);
}

/* In a team of one member the task may be deferred, but it is complete where it has to be. */
static void team_of_one(void) {
#pragma omp parallel num_threads(1)
  {
    int done = 0;
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
      check_add(&done, 1);
    }
#pragma omp taskwait
    CHECK_EQ(done, 10);
    int* const shared_done = &done;
#pragma omp task
    {
#pragma omp task
      check_add(shared_done, 1);
    }
#pragma omp barrier
    CHECK_EQ(done, 11);
  }
}

static void body(void) {
  int leaves = 0;
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(omp_get_supported_active_levels());
  region_in_a_task();
  alternating(4, &leaves);
  CHECK_EQ(leaves, 16);
  loops_in_tasks();
  barriers_in_tasks();
  tasks_where_the_body_stands();
  team_of_one();
  omp_set_max_active_levels(before);
}

CHECK_MAIN(body)
