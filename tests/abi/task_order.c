/* The task scheduling constraint, priorities, undeferred and included tasks, tasks outside any region. */
#include "check.h"

/* While a tied task waits, its thread begins only descendants of it. */
static void tied_tasks(void) {
  enum { TASKS = 200 };
  const int threads = omp_get_max_threads();
  int wrong = 0, runs = 0;
  int* const inside = calloc((size_t)threads, sizeof(int));
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < TASKS; ++i) {
#pragma omp task shared(wrong, runs)
    {
      /* Another one of these on the same thread is no descendant of this one. */
      const int self = omp_get_thread_num();
      if (check_add(&inside[self], 1) != 1) check_add(&wrong, 1);
      for (int k = 0; k < 3; ++k) {
#pragma omp task shared(runs)
        {
          check_work(200);
          check_add(&runs, 1);
        }
      }
#pragma omp taskyield
#pragma omp taskwait
      if (omp_get_thread_num() != self) check_add(&wrong, 1);
      check_add(&inside[self], -1);
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(runs, 3 * TASKS);
  free(inside);
}

static int at_once_wrong;

/* Undeferred: done when the construct is; its own tasks need not be. */
static void undeferred(void) {
  int value = 0, later = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task if (0) shared(value, later)
      {
        value++;
#pragma omp task shared(later)
        check_add(&later, 1);
      }
      CHECK_EQ(value, i + 1);
    }
#pragma omp taskgroup
    {
#pragma omp task if (0) shared(later)
      {
#pragma omp task shared(later)
        check_add(&later, 1);
      }
    }
    CHECK_GE(check_load(&later), 1);
  }
  CHECK_EQ(later, 21);
}

static int sum_below(int depth) {
  int left = 0, right = 0;
  if (depth == 0) return 1;
#pragma omp task shared(left) final(depth < 4) mergeable
  left = sum_below(depth - 1);
#pragma omp task shared(right) final(depth < 4) untied
  right = sum_below(depth - 1);
  if (depth < 4 && omp_in_final() && (left == 0 || right == 0)) check_add(&at_once_wrong, 1);
#pragma omp taskwait
  return left + right;
}

static void finals(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  sum = sum_below(9);
  CHECK_EQ(sum, 512);
  CHECK_EQ(check_load(&at_once_wrong), 0);
  CHECK_EQ(sum_below(9), 512); /* outside the region, or in the one around */
}

/* libgomp 12 makes a team for it and leaves that behind: later regions hang. */
static void reduction_without_region(void) {
  int sum = 0;
  if (getenv("CHECK_RUNTIME") == NULL) return;
#pragma omp taskgroup task_reduction(+ : sum)
  {
    for (int i = 0; i < 10; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
#pragma omp taskloop in_reduction(+ : sum)
    for (int i = 0; i < 10; ++i) sum += 100;
  }
  CHECK_EQ(sum, 1045);
}

/* All constructs, by a thread that is in no region. */
static void without_region(void) {
  int value = 0, a = 0;
  (void)a; /* only its address matters */
  reduction_without_region();
#pragma omp taskgroup
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(value) priority(i)
    check_add(&value, 1);
  }
  CHECK_EQ(value, 10);
#pragma omp task depend(out : a) shared(value)
  check_store(&value, 20);
#pragma omp task depend(in : a) shared(value)
  check_add(&value, 1);
#pragma omp taskwait depend(in : a)
#pragma omp taskyield
#pragma omp taskwait
  CHECK_EQ(value, 21);
}

static void body(void) {
  tied_tasks();
  undeferred();
  finals();
  without_region();
}

CHECK_MAIN(body)
