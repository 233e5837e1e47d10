/* Ten thousand tasks: by one member, by all, nested, with taskwait between, and none of them lost. */
#include "check.h"

static void by_one(int n) {
  int* times = (int*)calloc((size_t)n, sizeof(int));
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task shared(times)
    check_add(&times[i], 1);
  }
  for (int i = 0; i < n; ++i) CHECK_EQ(times[i], 1);
  free(times);
}

static void by_all(int n) {
  int done = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) {
#pragma omp task shared(done)
      check_add(&done, 1);
    }
    CHECK_EQ(check_load(&done), n);
  }
}

static void of_tasks(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n / 10; ++i) {
#pragma omp task shared(done)
    for (int k = 0; k < 10; ++k) {
#pragma omp task shared(done)
      check_add(&done, 1);
    }
  }
  CHECK_EQ(done, n / 10 * 10);
}

static void in_batches(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 1; i <= n / 10; ++i) {
    for (int k = 0; k < 10; ++k) {
#pragma omp task shared(done)
      check_add(&done, 1);
    }
#pragma omp taskwait
    CHECK_EQ(check_load(&done), i * 10);
  }
}

/* Every task blocks in taskwait while its child runs: many suspended tasks at once. */
static void waiting(int n) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task shared(done)
    {
      int child = 0;
#pragma omp task shared(child)
      child = 1;
#pragma omp taskwait
      check_add(&done, child);
    }
  }
  CHECK_EQ(done, n);
}

static void body(void) {
  const int n = CHECK_SCALE(10000);
  by_one(n);
  by_all(n);
  of_tasks(n);
  in_batches(n / 4);
  waiting(n / 4);
}

CHECK_MAIN(body)
