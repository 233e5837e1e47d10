/* threadprivate inside nested regions: every member has a copy of its own, and the outer members keep theirs. */
#include "check.h"

static int value = 1;
#pragma omp threadprivate(value)

static void inner_members_have_their_own(void) {
#pragma omp parallel num_threads(3)
  {
    const int outer = omp_get_thread_num();
    const int* const outer_address = &value;
    value = 100 + outer;
#pragma omp barrier
    for (int round = 0; round < 10; ++round) {
      const int* address[4];
#pragma omp parallel num_threads(4)
      {
        const int inner = omp_get_thread_num();
        const int* const mine = &value;
        address[inner] = mine;
        if (inner == 0) CHECK(mine == outer_address);
        if (inner != 0) value = outer * 10 + inner;
#pragma omp barrier
        CHECK(&value == mine);
        CHECK_EQ(value, inner == 0 ? 100 + outer : outer * 10 + inner);
        for (int i = 0; i < 4; ++i) CHECK((address[i] == mine) == (i == inner));
#pragma omp barrier
      }
      CHECK(&value == outer_address);
      CHECK_EQ(value, 100 + outer);
    }
#pragma omp barrier
    CHECK_EQ(value, 100 + outer);
  }
}

static void copyin_nested(void) {
#pragma omp parallel num_threads(3)
  {
    const int outer = omp_get_thread_num();
    value = 200 + outer;
#pragma omp parallel num_threads(4) copyin(value)
    {
      CHECK_EQ(value, 200 + outer);
#pragma omp barrier
      value += omp_get_thread_num();
#pragma omp barrier
      CHECK_EQ(value, 200 + outer + omp_get_thread_num());
    }
    CHECK_EQ(value, 200 + outer);
  }
}

static void body(void) {
  omp_set_max_active_levels(omp_get_supported_active_levels());
  inner_members_have_their_own();
  copyin_nested();
}

CHECK_MAIN(body)
