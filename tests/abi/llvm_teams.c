/* Teams on the host as LLVM's compilers make them: fork_teams, distribute in every form, thread_limit. */
#include <limits.h>

#include "check.h"

enum { room = 64 };

static void league(void) {
  int seen[room] = {0}, teams = 0;
#pragma omp teams num_teams(5) thread_limit(3)
  {
    check_add(&seen[omp_get_team_num()], 1);
    if (omp_get_team_num() == 0) check_store(&teams, omp_get_num_teams());
    CHECK_LE(omp_get_thread_limit(), 3);
    int members = 0;
#pragma omp parallel num_threads(8) reduction(+ : members)
    members += 1;
    CHECK_LE(members, 3);
    CHECK_GE(members, 1);
  }
  CHECK_GE(teams, 1); /* a runtime may make fewer than were asked for */
  CHECK_LE(teams, 5);
  for (int i = 0; i < room; ++i) CHECK_EQ(seen[i], i < teams);
}

#define DISTRIBUTE(name, clauses)                                                                         \
  static void name(int first, int last, int step) {                                                       \
    int counts[200] = {0};                                                                                \
    _Pragma("omp teams num_teams(4) thread_limit(4)") {                                                   \
      _Pragma(clauses) for (int i = first; i < last; i += step) check_add(&counts[i], 1);                 \
    }                                                                                                     \
    for (int i = 0; i < 200; ++i) CHECK_EQ(counts[i], i >= first && i < last && (i - first) % step == 0); \
  }
DISTRIBUTE(plain, "omp distribute")
DISTRIBUTE(chunked, "omp distribute dist_schedule(static, 7)")
DISTRIBUTE(with_parallel, "omp distribute parallel for")
DISTRIBUTE(with_parallel_chunked, "omp distribute parallel for schedule(static, 3)")
DISTRIBUTE(with_parallel_dynamic, "omp distribute parallel for schedule(dynamic, 2)")
DISTRIBUTE(with_parallel_guided, "omp distribute parallel for schedule(guided)")
DISTRIBUTE(with_parallel_both, "omp distribute parallel for dist_schedule(static, 20) schedule(static, 3)")

static void each(int first, int last, int step) {
  plain(first, last, step);
  chunked(first, last, step);
  with_parallel(first, last, step);
  with_parallel_chunked(first, last, step);
  with_parallel_dynamic(first, last, step);
  with_parallel_guided(first, last, step);
  with_parallel_both(first, last, step);
}

static void reduction(void) {
  long sum = 0;
  int last = -1;
#pragma omp teams distribute parallel for num_teams(3) reduction(+ : sum)
  for (int i = 0; i < 1000; ++i) sum += i;
  CHECK_EQ(sum, 499500);
#pragma omp teams distribute parallel for num_teams(3) lastprivate(last)
  for (int i = 0; i < 1000; ++i) last = i;
  CHECK_EQ(last, 999);
}

/* Behind the last chunk there are few values left of the type. (libomp comes by iterations again.) */
enum { few = 10 };
#define NEAR_THE_END(name, clauses)                                                                 \
  static void name(void) {                                                                          \
    int counts[few] = {0}, strays = 0;                                                              \
    _Pragma("omp teams num_teams(2) thread_limit(3)") {                                             \
      _Pragma(clauses) for (int i = INT_MAX - few; i < INT_MAX; ++i)                                \
          check_add(i >= INT_MAX - few && i < INT_MAX ? &counts[i - (INT_MAX - few)] : &strays, 1); \
    }                                                                                               \
    CHECK_EQ(strays, 0);                                                                            \
    for (int i = 0; i < few; ++i) CHECK_EQ(counts[i], 1);                                           \
  }
NEAR_THE_END(near_the_end, "omp distribute")
NEAR_THE_END(near_the_end_parallel, "omp distribute parallel for num_threads(3)")
NEAR_THE_END(near_the_end_one_by_one, "omp distribute parallel for num_threads(3) schedule(static, 1)")
NEAR_THE_END(near_the_end_chunked, "omp distribute parallel for num_threads(3) schedule(static, 2)")

static void body(void) {
  league();
  each(0, 200, 1);
  each(3, 150, 7);
  each(10, 13, 1);
  each(5, 5, 1);
  reduction();
  if (getenv("CHECK_RUNTIME") == NULL) return;
  near_the_end();
  near_the_end_parallel();
  near_the_end_one_by_one();
  near_the_end_chunked();
}

CHECK_MAIN_FLAT(body)
