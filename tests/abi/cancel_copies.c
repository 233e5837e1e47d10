/* A copyprivate single in a cancelled region, whose other members have left already. Who executes it waits for none of
 * those, though it may run on top of the frame that knows that they are done. */

#include <sched.h>

#include "check.h"

static int executed_alone(void) {
  int executed = 0;
#pragma omp parallel num_threads(4)
  {
    const int number = omp_get_thread_num();
    int value = 0;
    if (number == 0) {
#pragma omp cancel parallel
    }
    if (number != 3) {
#pragma omp cancellation point parallel
    }
#pragma omp single copyprivate(value)
    value = check_add(&executed, 1);
    (void)value;
  }
  return executed;
}

/* Two have executed one each, all are through with both, and meet; then one cancels. (Bug: those two waited for each
 * other.) */
static void executed_before(void) {
  int executed = 0;
#pragma omp parallel num_threads(3)
  {
    const int number = omp_get_thread_num();
    int value = 0;
    for (int turn = 0; turn < 2; ++turn) {
      while (number != turn && check_load(&executed) <= turn) sched_yield();
#pragma omp single copyprivate(value)
      value = check_add(&executed, 1);
#pragma omp barrier
    }
    (void)value;
    if (number == 2) {
#pragma omp cancel parallel
    }
#pragma omp barrier
  }
  CHECK_EQ(executed, 2);
}

/* The more regions of the kind there have been, and the shorter, the more members are run in one go. */
static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  for (int round = 0; round < CHECK_SCALE(400); ++round) CHECK_EQ(executed_alone(), 1);
  for (int round = 0; round < CHECK_SCALE(400); ++round) executed_before();
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run(body);
}
