/* Nested regions to depth 6: levels, ancestors and team sizes; inactive regions past max-active-levels. */
#include "check.h"

enum { DEPTH = 6 };

/* ancestors[k] is the thread number at level k, sizes[k] the team size there. */
static void descend(int base, int depth, const int* ancestors, const int* sizes, int* leaves) {
  const int size = depth % 2 == 0 ? 2 : 3;
  if (depth == DEPTH) {
    check_add(leaves, 1);
    return;
  }
#pragma omp parallel num_threads(size)
  {
    int mine[DEPTH + 1], team[DEPTH + 1];
    for (int i = 0; i < depth; ++i) mine[i] = ancestors[i], team[i] = sizes[i];
    mine[depth] = omp_get_thread_num();
    team[depth] = size;
    CHECK_EQ(omp_get_num_threads(), size);
    CHECK_EQ(omp_get_level(), base + depth + 1);
    CHECK_EQ(omp_get_active_level(), omp_get_level());
    CHECK_EQ(omp_in_parallel(), 1);
    CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
    CHECK_EQ(omp_get_team_size(0), 1);
    for (int i = 0; i <= depth; ++i) {
      CHECK_EQ(omp_get_ancestor_thread_num(base + i + 1), mine[i]);
      CHECK_EQ(omp_get_team_size(base + i + 1), team[i]);
    }
    CHECK_EQ(omp_get_ancestor_thread_num(base + depth + 2), -1);
    CHECK_EQ(omp_get_team_size(base + depth + 2), -1);
    CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
    CHECK_EQ(omp_get_team_size(-1), -1);
    descend(base, depth + 1, mine, team, leaves);
    CHECK_EQ(omp_get_thread_num(), mine[depth]);
    CHECK_EQ(omp_get_num_threads(), size);
    CHECK_EQ(omp_get_level(), base + depth + 1);
  }
}

static void deep(void) {
  int leaves = 0;
  descend(omp_get_level(), 0, NULL, NULL, &leaves);
  CHECK_EQ(leaves, 2 * 3 * 2 * 3 * 2 * 3);
}

static void inactive_levels(void) {
  const int active = omp_get_active_level(), level = omp_get_level(), before = omp_get_max_active_levels();
  omp_set_max_active_levels(active + 2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  {
    CHECK_EQ(omp_get_num_threads(), 2);
#pragma omp parallel num_threads(2)
    {
      CHECK_EQ(omp_get_num_threads(), 1);
      CHECK_EQ(omp_get_thread_num(), 0);
      CHECK_EQ(omp_get_level(), level + 3);
      CHECK_EQ(omp_get_active_level(), active + 2);
      CHECK_EQ(omp_get_team_size(level + 3), 1);
      CHECK_EQ(omp_get_team_size(level + 2), 2);
    }
  }
  omp_set_max_active_levels(before);
}

static void serialized_between_active(void) {
  const int active = omp_get_active_level(), level = omp_get_level();
  int leaves = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel if (0)
  {
    CHECK_EQ(omp_get_num_threads(), 1);
    CHECK_EQ(omp_get_active_level(), active + 1);
#pragma omp parallel num_threads(3)
    {
      CHECK_EQ(omp_get_num_threads(), 3);
      CHECK_EQ(omp_get_level(), level + 3);
      CHECK_EQ(omp_get_active_level(), active + 2);
      check_add(&leaves, 1);
    }
  }
  CHECK_EQ(leaves, 6);
}

static void wide(int outer, int inner) {
  int* counts = (int*)calloc((size_t)(outer * inner), sizeof(int));
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(outer)
    {
      const int me = omp_get_thread_num();
#pragma omp parallel num_threads(inner)
      {
        check_add(&counts[me * inner + omp_get_thread_num()], 1);
#pragma omp barrier
        for (int i = 0; i < inner; ++i) CHECK_EQ(check_load(&counts[me * inner + i]), round + 1);
      }
    }
  }
  free(counts);
}

static void body(void) {
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(omp_get_supported_active_levels());
  deep();
  inactive_levels();
  serialized_between_active();
  wide(4, 9);
  if (check_where == CHECK_SERIAL) wide(64, 64);
  omp_set_max_active_levels(before);
}

CHECK_MAIN(body)
