/* Teams of many hundred members, and regions nested dozens deep. */
#include "check.h"

static void wide(int members) {
  int *arrived = (int*)calloc((size_t)members, sizeof(int)), sum = 0;
  for (int round = 1; round <= 3; ++round) {
#pragma omp parallel num_threads(members) reduction(+ : sum)
    {
      const int me = omp_get_thread_num();
      CHECK_EQ(omp_get_num_threads(), members);
      check_store(&arrived[me], round);
#pragma omp barrier
      CHECK_EQ(check_load(&arrived[members - 1 - me]), round);
#pragma omp for schedule(dynamic, 7)
      for (int i = 0; i < 5000; ++i) sum += 1;
    }
    CHECK_EQ(sum, 5000 * round);
  }
  free(arrived);
}

static void deep(int depth, int* deepest, int* members) {
  const int level = omp_get_level();
  if (depth == 0) {
    *deepest = omp_get_active_level();
    return;
  }
#pragma omp parallel num_threads(2)
  {
    check_add(members, 1);
    CHECK_EQ(omp_get_level(), level + 1);
    if (omp_get_thread_num() == 1) deep(depth - 1, deepest, members);
  }
}

static void body(void) {
  int deepest = 0, members = 0;
  wide(300);
  wide(1000);
  wide(65);
  omp_set_max_active_levels(omp_get_supported_active_levels());
  deep(60, &deepest, &members);
  CHECK_EQ(deepest, 60);
  CHECK_EQ(members, 120);
}

CHECK_MAIN_FLAT(body)
