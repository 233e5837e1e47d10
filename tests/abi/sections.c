/* sections: each section once, more and fewer sections than members, nowait, lastprivate, reduction, fused. */
#include "check.h"

static void plain(void) {
  int times[5] = {0}, after = 0;
#pragma omp parallel
  for (int round = 1; round <= 30; ++round) {
#pragma omp sections
    {
      check_add(&times[0], 1);
#pragma omp section
      check_add(&times[1], 1);
#pragma omp section
      check_add(&times[2], 1);
#pragma omp section
      check_add(&times[3], 1);
#pragma omp section
      check_add(&times[4], 1);
    }
    for (int i = 0; i < 5; ++i) CHECK_EQ(check_load(&times[i]), round);
    check_add(&after, 1);
#pragma omp barrier
  }
  CHECK_EQ(after, 30 * omp_get_max_threads());
}

static void fused_with_parallel(int members) {
  int bits = 0;
#pragma omp parallel sections num_threads(members) reduction(| : bits)
  {
#pragma omp section
    bits |= 1;
#pragma omp section
    {
      CHECK_EQ(omp_get_num_threads(), members);
      bits |= 2;
    }
#pragma omp section
    bits |= 4;
  }
  CHECK_EQ(bits, 7);
}

static void lastprivate(void) {
  int value = -1, number = -1;
#pragma omp parallel
  {
#pragma omp sections lastprivate(value) private(number)
    {
      value = 1;
#pragma omp section
      value = 2;
#pragma omp section
      {
        number = 3;
        value = number;
      }
    }
    CHECK_EQ(value, 3);
  }
  CHECK_EQ(value, 3);
}

static void nowait_and_reduction(void) {
  int sum = 0, first = 10;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp sections nowait firstprivate(first)
    {
      sum += first;
#pragma omp section
      sum += first + 1;
    }
#pragma omp sections nowait
    {
      sum += 100;
#pragma omp section
      sum += 200;
#pragma omp section
      sum += 300;
    }
  }
  CHECK_EQ(sum, 621);
}

static void tasks_inside(void) {
  int done = 0;
#pragma omp parallel sections
  {
#pragma omp section
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
      check_add(&done, 1);
    }
#pragma omp section
    for (int i = 0; i < 10; ++i) {
#pragma omp task shared(done)
      check_add(&done, 10);
    }
  }
  CHECK_EQ(done, 110);
}

static void regions_inside(void) {
  int members = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
#pragma omp parallel num_threads(3)
    check_add(&members, omp_get_num_threads() == 3 ? 1 : 3);
#pragma omp section
#pragma omp parallel num_threads(4)
    check_add(&members, omp_get_num_threads() == 4 ? 1 : 4);
  }
  CHECK_EQ(members, 7);
}

static void body(void) {
  plain();
  for (int members = 1; members <= 5; ++members) fused_with_parallel(members);
  lastprivate();
  nowait_and_reduction();
  tasks_inside();
  regions_inside();
}

CHECK_MAIN(body)
