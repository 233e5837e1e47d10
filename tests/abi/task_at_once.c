/* Tasks that are run where they are created, because their creator has made plenty or because of if(0): with children
 * and grandchildren that outlive them, data of their own, and a creator that waits for all of them. */
#include "check.h"

static void grandchildren(int* done, int depth) {
  for (int k = 0; k < 2; ++k) {
#pragma omp task firstprivate(depth, done)
    {
      check_add(done, 1);
      if (depth > 0) grandchildren(done, depth - 1);
    }
  }
}

/* Nobody waits but the taskgroup and the end of the region. */
static void trees(int n, int* done) {
  for (int i = 0; i < n; ++i) {
#pragma omp task firstprivate(i, done)
    {
      check_add(done, 1);
      if (i % 7 == 0) grandchildren(done, 3);
    }
  }
}

static int in_trees(int n) { return n + (n + 6) / 7 * 30; }

static void in_a_region(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  trees(n, &done);
  CHECK_EQ(done, in_trees(n));
}

static void in_a_taskgroup(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    trees(n, &done);
    CHECK_EQ(check_load(&done), in_trees(n));
  }
}

/* A taskwait waits for the children alone, which is all there is: they wait for theirs. */
static int sum_below(int depth) {
  if (depth == 0) return 1;
  int left = 0, right = 0;
#pragma omp task shared(left)
  left = sum_below(depth - 1);
#pragma omp task shared(right) if (depth % 3 != 0)
  right = sum_below(depth - 1);
#pragma omp taskwait
  return left + right;
}

static void with_taskwait(int trees_in_all) {
  int total = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < trees_in_all; ++i) {
#pragma omp task shared(total)
    check_add(&total, sum_below(5));
  }
  CHECK_EQ(total, trees_in_all * 32);
}

/* The data is the task's own, whether or not it is run at once. */
static void with_own_data(int n) {
  int wrong = 0;
#pragma omp parallel
#pragma omp single
  {
    int values[4] = {0, 1, 2, 3};
    for (int i = 0; i < n; ++i) {
      values[i % 4] = i;
#pragma omp task firstprivate(values, i) shared(wrong) if (i % 5 != 0)
      {
        if (values[i % 4] != i) check_add(&wrong, 1);
        values[i % 4] = -1;
      }
      if (values[i % 4] != i) check_add(&wrong, 1);
    }
  }
  CHECK_EQ(wrong, 0);
}

static void undeferred(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp master
  for (int i = 0; i < n; ++i) {
    int here = 0;
#pragma omp task if (0) shared(here, done) firstprivate(i)
    {
      here = i + 1;
      if (i % 8 == 0) grandchildren(&done, 1);
    }
    CHECK_EQ(here, i + 1);
  }
  CHECK_EQ(done, (n + 7) / 8 * 6);
}

static void body(void) {
  const int n = CHECK_SCALE(6000);
  in_a_region(n);
  in_a_taskgroup(n);
  with_taskwait(n / 20);
  with_own_data(n);
  undeferred(n / 10);
}

CHECK_MAIN(body)
