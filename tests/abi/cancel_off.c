/* cancel and cancellation point while cancel-var is false (the default): they do nothing, and the loops, sections,
 * regions and taskgroups around them run to their ends. */
#include "check.h"

static void body(void) {
  const int members = omp_get_max_threads();
  int iterations = 0, sections = 0, after = 0, tasks = 0;
  CHECK_EQ(omp_get_cancellation(), 0);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == 3)
#pragma omp cancellation point for
      check_add(&iterations, 1);
    }
#pragma omp for schedule(static)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
      check_add(&iterations, 1);
    }
#pragma omp sections
    {
      {
#pragma omp cancel sections
        check_add(&sections, 1);
      }
#pragma omp section
      check_add(&sections, 1);
    }
#pragma omp cancel parallel
#pragma omp barrier
#pragma omp cancellation point parallel
    check_add(&after, 1);
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 30; ++i) {
#pragma omp task shared(tasks)
      {
#pragma omp cancel taskgroup
#pragma omp cancellation point taskgroup
        check_add(&tasks, 1);
      }
    }
  }
  CHECK_EQ(iterations, 200);
  CHECK_EQ(sections, 2);
  CHECK_EQ(after, members);
  CHECK_EQ(tasks, 30);
}

CHECK_MAIN(body)
