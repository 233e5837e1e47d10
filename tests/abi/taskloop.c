/* taskloop: each iteration once, grainsize, num_tasks, both strict, nogroup, collapse, unsigned long long, lastprivate,
 * clauses. */
#include <limits.h>

#include "check.h"

static void plain(int n) {
  int* times = (int*)calloc((size_t)n + 1, sizeof(int));
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < n; ++i) check_add(&times[i], 1);
    for (int i = 0; i < n; ++i) CHECK_EQ(check_load(&times[i]), 1); /* its taskgroup has ended */
  }
  free(times);
}

/* The first iteration that a task runs starts it: the tasks are told apart by a firstprivate that each one changes. */
static void grainsize(int n, int grain) {
  int *task_of = (int*)calloc((size_t)n + 1, sizeof(int)), *size = (int*)calloc((size_t)n + 1, sizeof(int));
  int tasks = 0, mine = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(grain) firstprivate(mine) shared(tasks, size, task_of)
  for (int i = 0; i < n; ++i) {
    if (mine < 0) mine = check_add(&tasks, 1) - 1;
    task_of[i] = mine;
    size[mine]++;
  }
  /* at least min(grain, n) and less than 2 * grain iterations each, consecutive ones */
  for (int t = 0; t < tasks; ++t) {
    CHECK_GE(size[t], grain < n ? grain : n);
    CHECK_LE(size[t], 2 * grain - 1);
  }
  for (int i = 1, changes = 1; i < n; ++i) {
    changes += task_of[i] != task_of[i - 1];
    CHECK_LE(changes, tasks);
  }
  CHECK(n == 0 || tasks >= 1);
  free(task_of);
  free(size);
}

static void num_tasks(int n, int wanted) {
  int tasks = 0, iterations = 0, mine = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(wanted) firstprivate(mine) shared(tasks, iterations)
  for (int i = n; i > 0; --i) {
    if (mine < 0) mine = check_add(&tasks, 1);
    check_add(&iterations, 1);
  }
  CHECK_EQ(iterations, n);
  CHECK_EQ(tasks, wanted < n ? wanted : n);
}

#if !defined(__clang__) || __clang_major__ >= 19 /* older ones do not know the modifier */
/* As many tasks as are wanted, none more than one iteration longer than another; of grains, the last one is shorter. */
static void strict(int n, int wanted, int grain) {
  int *size = (int*)calloc((size_t)n, sizeof(int)), *task_of = (int*)calloc((size_t)n, sizeof(int));
  int tasks = 0, least = n, most = 0, mine = -1;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop num_tasks(strict : wanted) firstprivate(mine) shared(tasks, size)
  for (int i = 0; i < n; ++i) {
    if (mine < 0) mine = check_add(&tasks, 1) - 1;
    size[mine]++;
  }
  CHECK_EQ(tasks, wanted < n ? wanted : n);
  for (int t = 0; t < tasks; ++t) {
    if (size[t] < least) least = size[t];
    if (size[t] > most) most = size[t];
  }
  CHECK_LE(most - least, 1);
#ifndef __clang__ /* which says nothing of the modifier to the runtime, here */
  tasks = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(strict : grain) firstprivate(mine) shared(tasks, task_of)
  for (int i = 0; i < n; ++i) {
    if (mine < 0) mine = check_add(&tasks, 1) - 1;
    task_of[i] = mine;
  }
  CHECK_EQ(tasks, (n + grain - 1) / grain);
  for (int i = 1; i < n; ++i) CHECK_EQ(task_of[i] != task_of[i - 1], i % grain == 0);
#endif
  free(size);
  free(task_of);
}
#endif

static void nogroup(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop nogroup
    for (int i = 0; i < n; ++i) check_add(&done, 1);
#pragma omp taskwait
    CHECK_EQ(check_load(&done), n);
#pragma omp taskloop nogroup grainsize(1)
    for (int i = 0; i < n; ++i) check_add(&done, 1);
  }
  CHECK_EQ(done, 2 * n);
}

static void long_ranges(void) {
  volatile unsigned long long high = ULLONG_MAX;
  const unsigned long long start = high - 50;
  int counts[5] = {0};
  unsigned long long sum = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (unsigned long long i = start; i < high - 3; i += 3) check_add(&counts[0], 1);
#pragma omp taskloop grainsize(2)
    for (unsigned long long i = start + 40; i > start; i -= 4) check_add(&counts[1], 1);
#pragma omp taskloop num_tasks(5)
    for (long long i = LLONG_MIN; i < LLONG_MIN + 30; ++i) check_add(&counts[2], 1);
#pragma omp taskloop
    for (long long i = LLONG_MAX - 1; i > LLONG_MAX - 60; i -= 2) check_add(&counts[3], 1);
#pragma omp taskloop
    for (int i = 10; i < 10; ++i) check_add(&counts[4], 1);
#pragma omp taskloop grainsize(7)
    for (unsigned long long i = 1; i <= 100; ++i) __atomic_fetch_add(&sum, i, __ATOMIC_RELAXED);
  }
  CHECK_EQ(counts[0], 16);
  CHECK_EQ(counts[1], 10);
  CHECK_EQ(counts[2], 30);
  CHECK_EQ(counts[3], 30);
  CHECK_EQ(counts[4], 0);
  CHECK_EQ(sum, 5050);
}

static void lastprivate_and_collapse(void) {
  int last = -1, i = -1, count = 0, seed = 4;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop lastprivate(last, i) firstprivate(seed)
    for (i = 0; i < 77; ++i) last = i * 2 + seed;
    CHECK_EQ(last, 156);
    CHECK_EQ(i, 77);
#pragma omp taskloop collapse(2) grainsize(5)
    for (int a = 0; a < 9; ++a)
      for (int b = 0; b < 8; ++b) check_add(&count, 1);
    CHECK_EQ(check_load(&count), 72);
  }
}

static void other_clauses(void) {
  int count = 0, before = 0;
#pragma omp parallel
#pragma omp single
  {
    const int me = omp_get_thread_num();
#pragma omp taskloop if (0)
    for (int i = 0; i < 20; ++i) {
      CHECK_EQ(omp_get_thread_num(), me);
      check_add(&count, 1);
    }
#pragma omp taskloop final(1)
    for (int i = 0; i < 20; ++i) {
      CHECK_EQ(omp_in_final(), 1);
      check_add(&count, 1);
    }
#pragma omp taskloop untied mergeable priority(3)
    for (int i = 0; i < 20; ++i) check_add(&count, 1);
#pragma omp taskloop simd
    for (int i = 0; i < 20; ++i) __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    before = check_load(&count);
  }
  CHECK_EQ(before, 80);
}

/* The last iteration's increment goes beyond the type's end: the loop's last task ends there nevertheless. */
static void wraps(void) {
  int count = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1) shared(count)
  for (unsigned long i = ULONG_MAX - 20; i < ULONG_MAX - 2; i += 7) check_add(&count, 1);
  CHECK_EQ(count, 3);
}

/* Tasks inside the taskloop's tasks belong to its group. */
static void descendants(void) {
  int count = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop
    for (int i = 0; i < 30; ++i) {
#pragma omp task shared(count)
      {
        check_work(100);
        check_add(&count, 1);
      }
    }
    CHECK_EQ(check_load(&count), 30);
  }
}

static void by_every_member(void) {
  int count = 0;
#pragma omp parallel
#pragma omp taskloop
  for (int i = 0; i < 25; ++i) check_add(&count, 1);
  CHECK_EQ(count, 25 * omp_get_max_threads());
}

static void body(void) {
  plain(0);
  plain(1);
  plain(500);
  for (int grain = 1; grain <= 64; grain *= 4) {
    grainsize(100, grain);
    grainsize(7, grain);
    num_tasks(100, grain);
  }
#if !defined(__clang__) || __clang_major__ >= 19
  strict(10, 4, 3);
  strict(9, 6, 4);
  strict(7, 5, 7);
  strict(100, 64, 33);
  strict(5, 9, 8);
#endif
  nogroup(100);
  long_ranges();
  wraps();
  lastprivate_and_collapse();
  other_clauses();
  descendants();
  by_every_member();
}

CHECK_MAIN(body)
