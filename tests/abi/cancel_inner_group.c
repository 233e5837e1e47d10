/* A task that has begun when its taskgroup is cancelled goes on to its end, and so do the taskgroups that it opens:
 * they are cancelled by none but their own tasks. */

#include "check.h"

static void wait_until(int* set) {
  while (!check_load(set)) usleep(100);
}

struct counts {
  int in_group, in_loop, below, points;
};

static void work_in_groups(struct counts* counts) {
#pragma omp taskgroup
  for (int i = 0; i < 20; ++i) {
#pragma omp task
    {
      check_add(&counts->in_group, 1);
#pragma omp task
      check_add(&counts->below, 1);
#pragma omp cancellation point taskgroup
      check_add(&counts->points, 1);
    }
  }
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 20; ++i) check_add(&counts->in_loop, 1);
}

static void goes_on(void) {
  struct counts counts = {0, 0, 0, 0};
  int begun = 0, about = 0;
#pragma omp parallel num_threads(2) shared(counts, begun, about)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task shared(counts, begun, about)
    {
      check_store(&begun, 1);
      wait_until(&about);
      usleep(10000); /* the group is cancelled by now, mostly */
      work_in_groups(&counts);
    }
#pragma omp task shared(begun, about)
    {
      wait_until(&begun);
      check_store(&about, 1);
#pragma omp cancel taskgroup
    }
  }
  CHECK_EQ(counts.in_group, 20);
  CHECK_EQ(counts.below, 20);
  CHECK_EQ(counts.points, 20);
  CHECK_EQ(counts.in_loop, 20);
}

/* The other way about: what is around a cancelled group is not cancelled. */
static void around(void) {
  int inner = 0, outer = 0;
#pragma omp parallel num_threads(2) shared(inner, outer)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp taskgroup
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(inner)
      {
        check_add(&inner, 1);
#pragma omp cancel taskgroup
      }
    }
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(outer)
      check_add(&outer, 1);
    }
  }
  CHECK_GE(inner, 1);
  CHECK_EQ(outer, 50);
}

static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  for (int round = 0; round < 10; ++round) {
    goes_on();
    around();
  }
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run_flat(body);
}
