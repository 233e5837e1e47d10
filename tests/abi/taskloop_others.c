/* With more threads than there is anything to run them on, the tasks of a loop that is over in no time are still not
 * all executed by one. (The specification demands it of nobody, but programs and suites expect it.) */
#include "check.h"

enum { TASKS = 1000 };

static int executed_by_others(void) {
  int executed_by[TASKS];
  for (int i = 0; i < TASKS; i++) executed_by[i] = -1;
#pragma omp parallel num_threads(200)
#pragma omp single
#pragma omp taskloop
  for (int i = 0; i < TASKS; i++) executed_by[i] = omp_get_thread_num();
  int others = 0;
  for (int i = 0; i < TASKS; i++) {
    CHECK_GE(executed_by[i], 0);
    others += executed_by[i] != executed_by[0];
  }
  return others;
}

/* On a busy machine those who have been woken for the tasks may be without a CPU until all are done; not each time. */
static void body(void) {
  int others = 0;
  for (int attempt = 0; attempt < 100 && others == 0; ++attempt) others = executed_by_others();
  CHECK_GE(others, 1);
}

CHECK_MAIN_FLAT(body)
