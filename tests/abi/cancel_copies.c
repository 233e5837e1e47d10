/* A copyprivate single in a cancelled region, whose other members have left already. Who executes it waits for none of
 * those, though it may run on top of the frame that knows that they are done. */

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

/* The more regions of the kind there have been, and the shorter, the more members are run in one go. */
static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  for (int round = 0; round < CHECK_SCALE(400); ++round) CHECK_EQ(executed_alone(), 1);
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run(body);
}
