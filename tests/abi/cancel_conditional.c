/* Constructs with memory that their members share, by the dozen in a cancelled region: members that have left do not
 * come to them any more, and one that is far ahead gets such memory all the same. */

#include "check.h"

/* Said of what the compiler itself makes for each member, which has a mark for whether it has been written. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

static int last;

/* On their own, so that the compiler asks for the memory at each construct. */
__attribute__((noinline)) static void some_loops(void) {
  for (int round = 0; round < 20; ++round) {
#pragma omp for schedule(dynamic) nowait lastprivate(conditional : last)
    for (int i = 0; i < 4; ++i)
      if (i % 2 == 1) last = i;
  }
}

__attribute__((noinline)) static void some_sections(void) {
  for (int round = 0; round < 20; ++round) {
#pragma omp sections nowait lastprivate(conditional : last)
    {
#pragma omp section
      last = 1;
#pragma omp section
      last = 2;
    }
  }
}

static void ahead(void (*constructs)(void)) {
  int members = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
    }
    constructs();
    check_add(&members, 1);
  }
  CHECK_EQ(members, 1);
}

/* The next region is as if nothing had been. */
static void afterwards(void) {
  last = -1;
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic) lastprivate(conditional : last)
    for (int i = 0; i < 100; ++i)
      if (i % 10 == 0) last = i;
  }
  CHECK_EQ(last, 90);
}

static void body(void) {
  for (int round = 0; round < 20; ++round) {
    ahead(some_loops);
    ahead(some_sections);
    afterwards();
  }
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run_flat(body);
}
