/* teams on the host, distribute, and what the routines answer inside. */
#include "check.h"

enum { most_teams = 8, iterations = 1000 };

/* Routines that gcc does not let stand directly in a teams region. */
__attribute__((noipa)) static void check_initial_thread(int limit) {
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_num_threads(), 1);
  CHECK_EQ(omp_get_level(), 0);
  CHECK_EQ(omp_get_active_level(), 0);
  CHECK_EQ(omp_in_parallel(), 0);
  CHECK_EQ(omp_get_ancestor_thread_num(0), 0);
  CHECK_EQ(omp_get_ancestor_thread_num(1), -1);
  CHECK_EQ(omp_get_team_size(0), 1);
  CHECK_EQ(omp_is_initial_device(), 1);
  if (limit != 0) CHECK_EQ(omp_get_thread_limit(), limit);
}

static void numbers(void) {
  int seen[most_teams] = {0};
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
#pragma omp teams num_teams(5)
  {
    CHECK_EQ(omp_get_num_teams(), 5);
    check_add(&seen[omp_get_team_num()], 1);
    check_initial_thread(0);
  }
  for (int team = 0; team < most_teams; ++team) CHECK_EQ(seen[team], team < 5);
#pragma omp teams num_teams(2 : 6)
  CHECK(omp_get_num_teams() >= 2 && omp_get_num_teams() <= 6);
  CHECK_EQ(omp_get_num_teams(), 1);
  int ran = 0;
#pragma omp teams
  check_add(&ran, 1);
  CHECK_GE(ran, 1);
}

static void limits(void) {
#pragma omp teams num_teams(3) thread_limit(2)
  {
    check_initial_thread(2);
    int members = 0, team = omp_get_team_num();
#pragma omp parallel num_threads(7)
    {
      check_add(&members, 1);
      CHECK_LE(omp_get_num_threads(), 2);
      CHECK_EQ(omp_get_team_num(), team);
      CHECK_EQ(omp_get_num_teams(), 3);
      CHECK_EQ(omp_get_level(), 1);
      CHECK_EQ(omp_get_thread_limit(), 2);
    }
    CHECK_LE(members, 2);
    CHECK_GE(members, 1);
  }
  CHECK(omp_get_thread_limit() > 2);
}

static void control_variables(void) {
  const int before = omp_get_max_teams(), limit_before = omp_get_teams_thread_limit();
  omp_set_num_teams(4);
  omp_set_teams_thread_limit(3);
  CHECK_EQ(omp_get_max_teams(), 4);
  CHECK_EQ(omp_get_teams_thread_limit(), 3);
  int ran = 0;
#pragma omp teams
  {
    check_add(&ran, 1);
    check_initial_thread(3);
  }
  CHECK_EQ(ran, 4);
#pragma omp teams num_teams(2) thread_limit(5)
  check_initial_thread(5);
  omp_set_num_teams(before);
  omp_set_teams_thread_limit(limit_before);
  CHECK_EQ(omp_get_max_teams(), before);
}

static void data(void) {
  int shared = 0, given = 17, sum = 0;
#pragma omp teams num_teams(6) firstprivate(given) reduction(+ : sum)
  {
    CHECK_EQ(given, 17);
    given += omp_get_team_num();
    sum += given;
    check_add(&shared, 1);
  }
  CHECK_EQ(given, 17);
  CHECK_EQ(shared, 6);
  CHECK_EQ(sum, 6 * 17 + 15);
}

static void distribution(void) {
  static int hits[iterations];
  memset(hits, 0, sizeof hits);
#pragma omp teams num_teams(4)
#pragma omp distribute
  for (int i = 0; i < iterations; ++i) check_add(&hits[i], 1);
#pragma omp teams distribute num_teams(3) dist_schedule(static, 7)
  for (int i = 0; i < iterations; ++i) {
    CHECK_EQ(omp_get_team_num(), i / 7 % omp_get_num_teams());
    check_add(&hits[i], 1);
  }
  long long sum = 0;
#pragma omp teams distribute parallel for num_teams(3) thread_limit(4) reduction(+ : sum) schedule(dynamic, 3)
  for (int i = 0; i < iterations; ++i) {
    check_add(&hits[i], 1);
    sum += i;
  }
  CHECK_EQ(sum, (long long)iterations * (iterations - 1) / 2);
#pragma omp teams distribute parallel for simd collapse(2) num_teams(2)
  for (int i = 0; i < iterations / 10; ++i)
    for (int j = 0; j < 10; ++j) check_add(&hits[i * 10 + j], 1);
  int last = -1;
#pragma omp teams distribute num_teams(4) lastprivate(last)
  for (int i = 0; i < iterations; ++i) last = i;
  CHECK_EQ(last, iterations - 1);
  for (int i = 0; i < iterations; ++i) CHECK_EQ(hits[i], 4);
}

static void regions_inside(void) {
  int tasks = 0, inner = 0;
#pragma omp teams num_teams(4)
  {
    for (int again = 0; again < 3; ++again) {
      int here = 0;
#pragma omp parallel num_threads(3)
      {
        check_add(&here, 1);
#pragma omp barrier
        CHECK_EQ(check_load(&here), omp_get_num_threads());
#pragma omp single
        for (int i = 0; i < 5; ++i) {
#pragma omp task
          check_add(&tasks, 1);
        }
#pragma omp parallel num_threads(2)
        check_add(&inner, omp_get_level() == 2);
      }
      CHECK_LE(here, 3);
    }
  }
  CHECK_EQ(tasks, 4 * 3 * 5);
  CHECK_GE(inner, 4 * 3);
}

/* What a team sets is its own; what the caller has set is inherited. */
__attribute__((noipa)) static void set_threads(int threads) {
  CHECK_EQ(omp_get_max_threads(), 5);
  omp_set_num_threads(threads);
  CHECK_EQ(omp_get_max_threads(), threads);
}

static void inherits(void) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(5);
  if (getenv("CHECK_RUNTIME") != NULL) { /* libgomp's teams all are the caller, whose variable they set */
#pragma omp teams num_teams(3)
    set_threads(omp_get_team_num() + 1);
    CHECK_EQ(omp_get_max_threads(), 5);
  }
  omp_set_num_threads(before);
}

/* Teams that are more than ever run at a time need no kernel thread each. (A tool is told of a thread for each.) */
static void many(void) {
  const int has_tool = getenv("OMP_TOOL_LIBRARIES") != NULL;
  const int teams = has_tool ? 300 : 2000;
  int ran = 0, members = 0;
  const int before = check_threads_of_process();
#pragma omp teams num_teams(teams)
  check_add(&ran, 1);
  CHECK_EQ(ran, teams);
  if (!has_tool) CHECK_LE(check_threads_of_process() - before, 1000);
#pragma omp teams num_teams(300) reduction(+ : members)
  {
    const int team = omp_get_team_num();
#pragma omp parallel num_threads(2) reduction(+ : members)
    {
      members += 1;
      CHECK_EQ(omp_get_team_num(), team);
    }
  }
  CHECK_GE(members, 300);
}

static void body(void) {
  numbers();
  limits();
  control_variables();
  data();
  distribution();
  regions_inside();
  inherits();
  many();
}

CHECK_MAIN_FLAT(body)
