/* Tasks that go on when the member that created them has come to the end of the region: their parent is gone from its
 * stack, which others use meanwhile; its ICVs, its children's counts and the line of ancestors must still be there. */
#include "check.h"

static void tree(int depth, int* count) {
  check_work(200);
  check_add(count, 1);
  if (depth == 0) return;
  for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(count)
    tree(depth - 1, count);
  }
  if (depth % 2 == 1) {
#pragma omp taskwait
  }
}

static void region(int members, int tasks) {
  int count = 0, wrong = 0;
#pragma omp parallel num_threads(members)
  {
    omp_set_num_threads(3 + omp_get_thread_num()); /* inherited by the tasks of this member */
    const int expected = omp_get_max_threads();
    for (int i = 0; i < tasks; ++i) {
#pragma omp task shared(count, wrong)
      {
        if (omp_get_max_threads() != expected) check_add(&wrong, 1);
        tree(3, &count);
#pragma omp parallel num_threads(3)
        check_work(300 * omp_get_thread_num());
        if (omp_get_max_threads() != expected) check_add(&wrong, 1);
      }
    }
    /* no barrier but that at the end of the region */
  }
  CHECK_EQ(count, members * tasks * 15);
  CHECK_EQ(wrong, 0);
}

static void body(void) {
  const int rounds = CHECK_SCALE(40), before = omp_get_max_active_levels();
  omp_set_max_active_levels(omp_get_supported_active_levels());
  for (int round = 0; round < rounds; ++round) {
    region(2, 2);
    region(omp_get_max_threads() < 16 ? omp_get_max_threads() : 16, 1 + round % 4);
    region(5, 3);
  }
  omp_set_max_active_levels(before);
}

CHECK_MAIN(body)
