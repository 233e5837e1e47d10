/* Reductions with the task modifier, which members leave by cancellation points: nothing is left of them. */

#include <malloc.h>

#include "check.h"

enum { MEMBERS = 4, ROUNDS = 600 };

static int cancelled_region(void) {
  int sum = 0, after = 0;
#pragma omp parallel num_threads(MEMBERS) reduction(task, + : sum) shared(after)
  {
    sum += 1;
#pragma omp task in_reduction(+ : sum)
    sum += 1;
    if (omp_get_thread_num() == 1) {
#pragma omp cancel parallel
      check_add(&after, 1);
    }
#pragma omp cancellation point parallel
  }
  CHECK_EQ(after, 0);
  return sum;
}

#ifndef __clang__ /* whose code has one barrier less for who leaves the loop, and hangs with any runtime */
static int cancelled_loop(void) {
  int sum = 0, after = 0;
#pragma omp parallel num_threads(MEMBERS) shared(sum, after)
  {
#pragma omp for reduction(task, + : sum)
    for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += 1;
      if (i == 20) {
#pragma omp cancel for
        check_add(&after, 100);
      }
    }
    check_add(&after, 1);
  }
  CHECK_EQ(after, MEMBERS);
  return sum;
}
#else
static int cancelled_loop(void) { return 0; }
#endif

static int whole_loop(void) {
  int sum = 0;
#pragma omp parallel num_threads(MEMBERS) shared(sum)
#pragma omp for reduction(task, + : sum)
  for (int i = 0; i < 40; ++i) {
#pragma omp task in_reduction(+ : sum)
    sum += 1;
    sum += 1;
  }
  return sum;
}

static void some_rounds(void) {
  for (int round = 0; round < ROUNDS; ++round) {
    cancelled_region();
    cancelled_loop();
    CHECK_EQ(whole_loop(), 80);
  }
}

/* Each member's part is a cache line at least, and what describes it as much again. What threads keep for themselves
 * depends on chance, but does not grow with the rounds. */
static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  some_rounds();
  const size_t before = mallinfo2().uordblks;
  some_rounds();
  CHECK_LE(mallinfo2().uordblks, before + 400 * ROUNDS);
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  mallopt(M_ARENA_MAX, 1); /* mallinfo2() tells of one */
  return check_run_flat(body);
}
