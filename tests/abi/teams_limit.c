/* Leagues under OMP_THREAD_LIMIT: each team is a contention group of its own, and the limit around is as it was. */
#include "check.h"

enum { limit = 4, more = 3 * limit };

static int members_of_a_region(void) {
  int members = 0;
#pragma omp parallel num_threads(more)
  check_add(&members, 1);
  return members;
}

static void around_leagues(int teams) {
  int ran = 0, in_all = 0;
  CHECK_EQ(members_of_a_region(), limit);
#pragma omp teams num_teams(teams)
  check_add(&ran, 1);
  CHECK(ran >= 1 && ran <= teams);
  CHECK_EQ(members_of_a_region(), limit);
#pragma omp teams num_teams(teams) reduction(+ : in_all)
  {
    int members = 0;
    for (int again = 0; again < 2; ++again) {
#pragma omp parallel num_threads(more) reduction(+ : members)
      members++;
      CHECK_LE(members, limit * (again + 1));
    }
    in_all += members;
  }
  CHECK_GE(in_all, 2);
  CHECK_EQ(members_of_a_region(), limit);
#pragma omp teams num_teams(teams) thread_limit(2) reduction(+ : in_all)
  {
    int members = 0;
#pragma omp parallel num_threads(more) reduction(+ : members)
    members++;
    CHECK_LE(members, 2);
    in_all += members;
  }
  CHECK_EQ(members_of_a_region(), limit);
}

static void body(void) {
  CHECK_EQ(omp_get_thread_limit(), limit);
  for (int round = 0; round < 3; ++round) {
    around_leagues(1);
    around_leagues(limit);
    around_leagues(2 * limit);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_THREAD_LIMIT", "4", argv);
  return check_run_flat(body);
}
