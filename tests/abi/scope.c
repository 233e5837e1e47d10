/* scope (OpenMP 5.1): every member runs the block, with private copies and reductions, and a barrier unless nowait. */
#include "check.h"

static void body(void) {
  const int members = omp_get_max_threads();
  int sum = 0, runs = 0, own = -1;
#pragma omp parallel
  {
#pragma omp scope reduction(+ : sum) private(own)
    {
      own = omp_get_thread_num();
      sum += own + 1;
      check_add(&runs, 1);
    }
    CHECK_EQ(sum, members * (members + 1) / 2);
    CHECK_EQ(check_load(&runs), members);
#pragma omp barrier
#pragma omp scope nowait
    check_add(&runs, 1);
  }
  CHECK_EQ(runs, 2 * members);
  CHECK_EQ(own, -1);
}

CHECK_MAIN(body)
