/* master and masked (with filter): who runs the block; no barrier is implied. */
#include "check.h"

static void master(void) {
  int times = 0;
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
#pragma omp master
    {
      CHECK_EQ(omp_get_thread_num(), 0);
      check_add(&times, 1);
    }
  }
  CHECK_EQ(times, 20);
}

static void masked(void) {
  int plain = 0, last = 0, nobody = 0;
  const int members = omp_get_max_threads();
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
#pragma omp masked
    {
      CHECK_EQ(omp_get_thread_num(), 0);
      check_add(&plain, 1);
    }
#pragma omp masked filter(members - 1)
    {
      CHECK_EQ(omp_get_thread_num(), members - 1);
      check_add(&last, 1);
    }
#pragma omp masked filter(members)
    check_add(&nobody, 1);
  }
  CHECK_EQ(plain, 20);
  CHECK_EQ(last, 20);
  CHECK_EQ(nobody, 0);
}

static void combined(void) {
  int tasks = 0, iterations = 0;
#pragma omp parallel master
  for (int i = 0; i < 10; ++i) {
#pragma omp task shared(tasks)
    check_add(&tasks, 1);
  }
  CHECK_EQ(tasks, 10);
#ifndef __clang__ /* 19 gives each task an `iterations` of its own */
#pragma omp parallel masked taskloop
  for (int i = 0; i < 100; ++i) check_add(&iterations, 1);
  CHECK_EQ(iterations, 100);
#else
  (void)iterations;
#endif
}

static void body(void) {
  master();
  masked();
  combined();
}

CHECK_MAIN(body)
