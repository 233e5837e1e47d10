/* Taskloops of many tasks, which members may hand over to each other in ranges: tasks with children that outlive them,
 * that wait, that nest taskloops; data of their own; loops that nobody but a taskwait, a taskgroup or the region's end
 * waits for. */
#include "check.h"

static int sum_to(int n) { return n * (n - 1) / 2; }

static void by_all(int n, int grain) {
  int sum = 0, wrong = 0;
#pragma omp parallel
  {
    int own = 0;
#pragma omp taskloop grainsize(grain) shared(own)
    for (int i = 0; i < n; ++i) check_add(&own, i);
    if (check_load(&own) != sum_to(n)) check_add(&wrong, 1);
#pragma omp single
#pragma omp taskloop num_tasks(n) shared(sum)
    for (int i = 0; i < n; ++i) check_add(&sum, i);
  }
  CHECK_EQ(sum, sum_to(n));
  CHECK_EQ(wrong, 0);
}

/* The creator goes on, and waits in another way. */
static void without_group(int n) {
  int first = 0, second = 0, third = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup grainsize(2) shared(first)
    for (int i = 0; i < n; ++i) check_add(&first, 1);
#pragma omp taskloop nogroup grainsize(1) shared(first)
    for (int i = 0; i < n; ++i) check_add(&first, 1);
#pragma omp taskwait
    CHECK_EQ(check_load(&first), 2 * n);
#pragma omp taskgroup
    {
#pragma omp task shared(second)
#pragma omp taskloop nogroup grainsize(3) shared(second)
      for (int i = 0; i < n; ++i) check_add(&second, 1);
    }
    CHECK_EQ(check_load(&second), n);
#pragma omp task shared(third)
    {
#pragma omp taskloop nogroup grainsize(1) shared(third)
      for (int i = 0; i < n; ++i) check_add(&third, 1);
    }
  }
  CHECK_EQ(third, n);
}

/* Children and grandchildren, of which some are waited for. */
static void with_children(int n) {
  int done = 0, early = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1) shared(done, early)
  for (int i = 0; i < n; ++i) {
    int mine = 0;
#pragma omp task shared(mine)
    check_add(&mine, 1);
#pragma omp task shared(done)
    {
#pragma omp task shared(done)
      check_add(&done, 1);
      check_add(&done, 1);
    }
#pragma omp taskwait
    if (check_load(&mine) != 1) check_add(&early, 1);
    if (i % 16 == 0) {
#pragma omp taskyield
    }
  }
  CHECK_EQ(early, 0);
  CHECK_EQ(done, 2 * n);
}

static void nested(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(n) shared(done)
  for (int i = 0; i < n; ++i) {
#pragma omp taskloop grainsize(1) shared(done)
    for (int k = 0; k < n; ++k) check_add(&done, 1);
  }
  CHECK_EQ(done, n * n);
}

/* Each task has what the creator had when the loop began, whatever the tasks and the creator do to theirs. */
static void data_of_their_own(int n) {
  struct {
    int at[100];
  } values;
  int wrong = 0;
  for (int k = 0; k < 100; ++k) values.at[k] = k;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup grainsize(1) firstprivate(values) shared(wrong)
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < 100; ++k) {
        if (values.at[k] != k) check_add(&wrong, 1);
        values.at[k] = -i;
      }
    }
    for (int k = 0; k < 100; ++k) values.at[k] = 1000;
  }
  CHECK_EQ(wrong, 0);
}

static void unequal(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1) shared(done) untied
  for (int i = 0; i < n; ++i) {
    check_work(i % 50 == 0 ? 20000 : 10);
    check_add(&done, 1);
  }
  CHECK_EQ(done, n);
}

static void final_and_if(int n) {
  int done = 0, outside = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(1) final(n > 3) shared(done, outside)
    for (int i = 0; i < n; ++i) {
      if (n > 3 && !omp_in_final()) check_add(&outside, 1);
#pragma omp task shared(done)
      check_add(&done, 1);
    }
#pragma omp taskloop grainsize(1) if (n < 0) shared(done)
    for (int i = 0; i < n; ++i) check_add(&done, 1);
  }
  CHECK_EQ(done, 2 * n);
  CHECK_EQ(outside, 0);
}

static void reductions(int n) {
  long sum = 0, inner = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(+ : sum) grainsize(1)
    for (int i = 0; i < n; ++i) sum += i;
#pragma omp taskgroup task_reduction(+ : inner)
    {
#pragma omp taskloop in_reduction(+ : inner) num_tasks(n)
      for (int i = 0; i < n; ++i) inner += i;
    }
  }
  CHECK_EQ(sum, sum_to(n));
  CHECK_EQ(inner, sum_to(n));
}

static void body(void) {
  by_all(CHECK_SCALE(3000), 1);
  by_all(CHECK_SCALE(500), 7);
  without_group(CHECK_SCALE(1000));
  with_children(CHECK_SCALE(500));
  nested(CHECK_SCALE(40));
  data_of_their_own(CHECK_SCALE(500));
  unequal(CHECK_SCALE(1000));
  final_and_if(CHECK_SCALE(300));
  reductions(CHECK_SCALE(500));
}

CHECK_MAIN(body)
