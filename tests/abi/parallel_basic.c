/* The parallel construct: team size, thread numbers, the num_threads and if clauses. */
#include "check.h"

enum { ROOM = 256 };

static void every_member_once(int requested) {
  int seen[ROOM] = {0}, sizes = 0, level = omp_get_level();
#pragma omp parallel num_threads(requested)
  {
    const int me = omp_get_thread_num();
    CHECK(me >= 0 && me < omp_get_num_threads());
    CHECK_EQ(omp_get_num_threads(), requested);
    CHECK_EQ(omp_get_level(), level + 1);
    if (me < ROOM) check_add(&seen[me], 1);
    check_add(&sizes, 1);
  }
  CHECK_EQ(sizes, requested);
  for (int i = 0; i < requested; ++i) CHECK_EQ(seen[i], 1);
  for (int i = requested; i < ROOM; ++i) CHECK_EQ(seen[i], 0);
}

static void default_team_size(void) {
  const int expected = omp_get_max_threads();
  int members = 0;
#pragma omp parallel
  {
    CHECK_EQ(omp_get_num_threads(), expected);
    check_add(&members, 1);
  }
  CHECK_EQ(members, expected);
}

static void set_num_threads_changes_the_default(void) {
  const int before = omp_get_max_threads();
  for (int n = 1; n <= 9; n += 4) {
    int members = 0;
    omp_set_num_threads(n);
    CHECK_EQ(omp_get_max_threads(), n);
#pragma omp parallel
    check_add(&members, 1);
    CHECK_EQ(members, n);
  }
  omp_set_num_threads(before);
}

static void if_clause(void) {
  const int active = omp_get_active_level(), level = omp_get_level();
  for (int yes = 0; yes < 2; ++yes) {
    int members = 0;
#pragma omp parallel if (yes) num_threads(4)
    {
      check_add(&members, 1);
      CHECK_EQ(omp_get_num_threads(), yes ? 4 : 1);
      CHECK_EQ(omp_get_level(), level + 1);
      CHECK_EQ(omp_get_active_level(), active + yes);
    }
    CHECK_EQ(members, yes ? 4 : 1);
  }
#pragma omp parallel if (parallel : 0)
  CHECK_EQ(omp_get_num_threads(), 1);
}

static void master_is_the_encountering_thread(void) {
  int local = 0;
  const int* address = &local;
#pragma omp parallel num_threads(5)
  if (omp_get_thread_num() == 0) {
    CHECK(address == &local);
    local = 42;
  }
  CHECK_EQ(local, 42);
}

static void many_regions(void) {
  long long sum = 0;
  const int rounds = CHECK_SCALE(400), members = omp_get_max_threads();
  for (int i = 0; i < rounds; ++i) {
#pragma omp parallel reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
  }
  CHECK_EQ(sum, (long long)rounds * members * (members + 1) / 2);
}

static void sizes_that_change(void) {
  static const int sizes[] = {1, 7, 2, 64, 3, 1, 16, 5, 33, 2};
  for (int round = 0; round < 3; ++round)
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) every_member_once(sizes[i]);
}

static void body(void) {
  default_team_size();
  every_member_once(1);
  every_member_once(2);
  every_member_once(17);
  every_member_once(100);
  set_num_threads_changes_the_default();
  if_clause();
  master_is_the_encountering_thread();
  many_regions();
  sizes_that_change();
}

CHECK_MAIN(body)
