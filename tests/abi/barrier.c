/* barrier: nobody passes before everybody has come, 10,000 times over. */
#include "check.h"

static void phases(int members, int rounds) {
  int* phase = (int*)calloc((size_t)members, sizeof(int));
#pragma omp parallel num_threads(members)
  {
    const int me = omp_get_thread_num();
    for (int i = 1; i <= rounds; ++i) {
      check_store(&phase[me], i);
#pragma omp barrier
      const int seen = check_load(&phase[(me + 1) % members]);
      CHECK(seen == i || seen == i + 1);
    }
  }
  for (int i = 0; i < members; ++i) CHECK_EQ(phase[i], rounds);
  free(phase);
}

/* Plain memory written before a barrier is visible after it. */
static void visibility(int members) {
  int* slot = (int*)calloc((size_t)members, sizeof(int));
#pragma omp parallel num_threads(members)
  for (int i = 0; i < 100; ++i) {
    const int me = omp_get_thread_num();
    slot[me] = i * members + me;
#pragma omp barrier
    for (int k = 0; k < members; ++k) CHECK_EQ(slot[k], i * members + k);
#pragma omp barrier
  }
  free(slot);
}

static void late_member(void) {
  int flag = 0;
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 2) {
      check_work(2000000);
      flag = 1;
    }
#pragma omp barrier
    CHECK_EQ(flag, 1);
  }
}

static void body(void) {
  const int members = omp_get_max_threads();
  phases(members, CHECK_SCALE(members > 8 ? 1000 : 10000));
  visibility(members < 16 ? members : 16);
  late_member();
}

CHECK_MAIN(body)
