/* In a cancelled taskgroup what has begun goes on to its end: code that waits for dependences, and is no task that
 * could be discarded, waits for them. */

#include "check.h"

/* Under sanitizers nobody is made to give way, and there may be fewer workers than wait here. */
static void wait_until(int* set) {
  while (!check_load(set)) {
    usleep(100);
    if (check_sanitized()) {
#pragma omp taskyield
    }
  }
}

/* x is written by a task that has begun when the group is cancelled, and goes on for some time; seen is its copy. */
static void in_order(void) {
  int x = 0, seen = -1, begun = 0, about = 0;
#pragma omp parallel num_threads(3) shared(x, seen, begun, about)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task shared(x, seen, begun, about)
    {
#pragma omp task shared(x, begun, about) depend(out : x)
      {
        check_store(&begun, 1);
        wait_until(&about);
        usleep(50000);
        check_store(&x, 42);
      }
      wait_until(&about);
      usleep(10000); /* the group is cancelled by now, mostly */
#pragma omp target depend(in : x) map(tofrom : x, seen)
      seen = check_load(&x);
    }
#pragma omp task shared(begun, about)
    {
      wait_until(&begun);
      check_store(&about, 1);
#pragma omp cancel taskgroup
    }
  }
  CHECK_EQ(seen, 42);
}

static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  for (int round = 0; round < 5; ++round) in_order();
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run_flat(body);
}
