/* dyn-var: with dynamic adjustment the team may be smaller than asked for, but it is a proper team. */
#include "check.h"

static void body(void) {
  omp_set_dynamic(1);
  CHECK_EQ(omp_get_dynamic(), 1);
  for (int request = 1; request <= 64; request *= 4) {
    int members = 0, size = 0;
#pragma omp parallel num_threads(request)
    {
      check_add(&members, 1);
#pragma omp single
      size = omp_get_num_threads();
      CHECK_EQ(omp_get_dynamic(), 1);
    }
    CHECK_GE(size, 1);
    CHECK_LE(size, request);
    CHECK_EQ(members, size);
  }
  omp_set_dynamic(0);
  CHECK_EQ(omp_get_dynamic(), 0);
#pragma omp parallel num_threads(13)
  CHECK_EQ(omp_get_num_threads(), 13);
}

CHECK_MAIN(body)
