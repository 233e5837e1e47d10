/* Worksharing and synchronization outside any region: a team of one thread runs everything. */
#include "check.h"

static void worksharing(void) {
  static int last; /* shared */
  int count = 0;
#pragma omp for schedule(dynamic) lastprivate(last)
  for (int i = 0; i < 10; ++i) last = i, ++count;
#pragma omp for schedule(guided, 3) nowait
  for (unsigned long long i = 0; i < 10; ++i) ++count;
#pragma omp for schedule(runtime)
  for (int i = 0; i < 10; ++i) ++count;
#pragma omp for schedule(static, 4)
  for (int i = 0; i < 10; ++i) ++count;
  CHECK_EQ(count, 40);
  CHECK_EQ(last, 9);
#pragma omp sections
  {
    ++count;
#pragma omp section
    ++count;
  }
  CHECK_EQ(count, 42);
#pragma omp single
  ++count;
#pragma omp master
  ++count;
#pragma omp critical
  ++count;
#pragma omp critical(weft_orphaned)
  ++count;
#pragma omp barrier
#pragma omp atomic
  ++count;
  CHECK_EQ(count, 47);
#pragma omp taskwait
#pragma omp taskyield
#pragma omp flush
  int copy = 0;
#pragma omp single copyprivate(copy)
  copy = 5;
  CHECK_EQ(copy, 5);
#pragma omp taskloop shared(count)
  for (int i = 0; i < 10; ++i) check_add(&count, 1);
  CHECK_EQ(count, 57);
}

static void body(void) {
  for (int round = 0; round < 50; ++round) worksharing();
#pragma omp parallel num_threads(2)
  {}
  for (int round = 0; round < 50; ++round) worksharing();
#pragma omp parallel if (0)
  for (int round = 0; round < 50; ++round) worksharing();
}

CHECK_MAIN_FLAT(body)
