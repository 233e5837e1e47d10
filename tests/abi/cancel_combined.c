/* Cancellation of parallel for and parallel sections. Their end is the region's, where no barrier of their own ends the
 * cancellation: the next region's loops and sections are not cancelled. */
#include "check.h"

static volatile int never = -1; /* compilers leave out cancellation points of what has no cancel construct */

/* Loops, of every schedule that has code of its own, in a region after the one before has cancelled its own. */
static void all_of_the_next_region(void) {
  int by_static = 0, by_dynamic = 0, sections = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == never)
      check_add(&by_static, 1);
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; ++i) {
#pragma omp cancel for if (i == never)
      check_add(&by_dynamic, 1);
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp cancel sections if (never >= 0)
        check_add(&sections, 1);
      }
#pragma omp section
      {
#pragma omp cancellation point sections
        check_add(&sections, 1);
      }
    }
  }
  CHECK_EQ(by_static, 100);
  CHECK_EQ(by_dynamic, 100);
  CHECK_EQ(sections, 2);
}

static void combined_constructs(void) {
  for (int round = 0; round < 4; ++round) {
    int runs = 0;
#pragma omp parallel for num_threads(2) schedule(static)
    for (int i = 0; i < 1000; ++i) {
#pragma omp cancel for if (round == 0)
      check_add(&runs, 1);
#pragma omp cancellation point for
    }
    CHECK_EQ(runs, round == 0 ? 0 : 1000);
  }
#pragma omp parallel for num_threads(2) schedule(static)
  for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
  }
  all_of_the_next_region();
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int i = 0; i < 100; ++i) {
#pragma omp cancel for
  }
  all_of_the_next_region();
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    {
#pragma omp cancel sections
    }
#pragma omp section
    check_work(10);
  }
  all_of_the_next_region();
}

static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  combined_constructs();
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run(body);
}
