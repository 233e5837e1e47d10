/* Cancelled loops and sections of a thread alone, in a region of one and outside of any: those that come after them are
 * not cancelled. */

#include "check.h"

static volatile int never = -1; /* compilers leave out cancellation points of what has no cancel construct */

static void loops(void) {
  int before = 0, after = 0;
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 100; ++i) {
    if (i == 7) {
#pragma omp cancel for
    }
    ++before;
  }
#pragma omp for schedule(static)
  for (int i = 0; i < 50; ++i) {
#pragma omp cancellation point for
    ++after;
#pragma omp cancel for if (i == never)
  }
#pragma omp for schedule(static)
  for (int i = 0; i < 100; ++i) {
    if (i == 7) {
#pragma omp cancel for
    }
    ++before;
  }
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 50; ++i) {
#pragma omp cancellation point for
    ++after;
#pragma omp cancel for if (i == never)
  }
  CHECK_EQ(before, 14);
  CHECK_EQ(after, 100);
}

static void sections(void) {
  int begun = 0, through = 0, later = 0;
#pragma omp sections
  {
#pragma omp section
    if (check_add(&begun, 1) > 0) {
#pragma omp cancel sections
      check_add(&through, 1);
    }
  }
#pragma omp sections
  {
#pragma omp section
    if (check_add(&later, 1) == 1) {
#pragma omp cancellation point sections
      check_add(&later, 1);
#pragma omp cancel sections if (later == never)
    }
  }
  CHECK_EQ(begun, 1);
  CHECK_EQ(through, 0);
  CHECK_EQ(later, 2);
}

static void loops_and_sections(void) {
  loops();
  sections();
}

static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
#pragma omp parallel num_threads(1)
  loops_and_sections();
#pragma omp parallel if (check_failures < 0)
  loops_and_sections();
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  loops_and_sections();
  return check_run(body);
}
