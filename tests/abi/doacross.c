/* ordered(n) with depend(sink) and depend(source), in every schedule, with more members than workers. */
#include <sched.h>
#include <sys/resource.h>

#include "check.h"

enum { N = 40, M = 30 };

#define WAVEFRONT(clause)                                                                          \
  {                                                                                                \
    int grid[N][M], order = 0, wrong = 0;                                                          \
    for (int i = 0; i < N; ++i)                                                                    \
      for (int j = 0; j < M; ++j) grid[i][j] = 1;                                                  \
    _Pragma("omp parallel") {                                                                      \
      _Pragma(clause) for (int i = 1; i < N; ++i) for (int j = 1; j < M; ++j) {                    \
        _Pragma("omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)") grid[i][j] =        \
            (grid[i - 1][j] + grid[i][j - 1]) % 10007;                                             \
        check_add(&order, 1);                                                                      \
        _Pragma("omp ordered depend(source)") if (grid[i][j] == 0) check_add(&wrong, 1);           \
      }                                                                                            \
    }                                                                                              \
    CHECK_EQ(order, (N - 1) * (M - 1));                                                            \
    for (int i = 1; i < N; ++i)                                                                    \
      for (int j = 1; j < M; ++j) CHECK_EQ(grid[i][j], (grid[i - 1][j] + grid[i][j - 1]) % 10007); \
  }

static void wavefronts(void) {
  if (check_where != CHECK_SERIAL) return; /* libgomp's members spin while they wait, which takes too long */
  WAVEFRONT("omp for ordered(2)")
  WAVEFRONT("omp for ordered(2) schedule(static, 1)")
  WAVEFRONT("omp for ordered(2) schedule(static, 3)")
  WAVEFRONT("omp for ordered(2) schedule(dynamic)")
  WAVEFRONT("omp for ordered(2) schedule(dynamic, 5)")
  WAVEFRONT("omp for ordered(2) schedule(guided)")
  WAVEFRONT("omp for ordered(2) schedule(runtime)")
}

static void one_loop(void) {
  int values[200] = {0};
#pragma omp parallel
  {
#pragma omp for ordered(1) schedule(static, 1)
    for (int i = 3; i < 200; ++i) {
#pragma omp ordered depend(sink : i - 1) depend(sink : i - 3)
      values[i] = values[i - 1] + 1;
#pragma omp ordered depend(source)
    }
#pragma omp for ordered(1) schedule(dynamic, 2)
    for (long i = 199; i >= 3; i -= 2) {
#pragma omp ordered depend(sink : i + 2)
      values[i] += i + 2 < 200 ? values[i + 2] % 7 : 0;
#pragma omp ordered depend(source)
    }
  }
  int expected[200] = {0};
  for (int i = 3; i < 200; ++i) expected[i] = expected[i - 1] + 1;
  for (int i = 199; i >= 3; i -= 2) expected[i] += i + 2 < 200 ? expected[i + 2] % 7 : 0;
  for (int i = 0; i < 200; ++i) CHECK_EQ(values[i], expected[i]);
}

/* Unsigned bounds beyond those of long, collapsed loops, no loop at all. */
static void kinds_of_loops(void) {
  int wrong = 0, runs = 0, last = 0;
  const unsigned long long first = ~0ULL - 50;
#pragma omp parallel
  {
#pragma omp for ordered(1) schedule(dynamic)
    for (unsigned long long i = first; i < ~0ULL; ++i) {
#pragma omp ordered depend(sink : i - 1)
      if (last != (int)(i - first)) check_add(&wrong, 1);
      last = (int)(i - first) + 1;
#pragma omp ordered depend(source)
    }
#pragma omp for ordered(1)
    for (int i = 5; i < 5; ++i) {
#pragma omp ordered depend(sink : i - 1)
      check_add(&wrong, 1);
#pragma omp ordered depend(source)
    }
#pragma omp for collapse(2) ordered(3) schedule(static, 1)
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 7; ++j)
        for (int k = 0; k < 3; ++k) {
#pragma omp ordered depend(sink : i, j - 1, k) depend(sink : i - 1, j, k)
          check_add(&runs, 1);
#pragma omp ordered depend(source)
        }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(last, 50);
  CHECK_EQ(runs, 6 * 7 * 3);
}

/* What an iteration needs not wait for runs beside it: source comes before the rest of the body. */
static void nowait_loops(void) {
  int values[60] = {0};
#pragma omp parallel
  for (int round = 0; round < 12; ++round) {
#pragma omp for ordered(1) nowait schedule(static, 1)
    for (int i = 1; i < 60; ++i) {
#pragma omp ordered depend(sink : i - 1)
      check_add(&values[i], 1);
#pragma omp ordered depend(source)
      check_work(10);
    }
  }
  for (int i = 1; i < 60; ++i) CHECK_EQ(values[i], 12);
}

/* Alone, a member waits for nobody: not even for an iteration before the first, which nobody posts. gcc asks for that
 * where an unsigned variable counts down. */
static void alone(void) {
  unsigned long values[8] = {0};
#pragma omp parallel for ordered(1) schedule(guided, 2) num_threads(1)
  for (unsigned long i = 42; i > 7; i -= 7) {
    const unsigned long at = (42 - i) / 7;
#pragma omp ordered depend(sink : i + 7)
    values[at] = (at != 0 ? values[at - 1] : 1) * 7 + at;
#pragma omp ordered depend(source)
  }
  CHECK_EQ(values[4], 17273);
}

static long most_kilobytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

/* Nor does it need memory for what it is through with. */
static void alone_for_long(void) {
  enum { rows = 1 << 22 };
  if (check_where != CHECK_SERIAL || check_sanitized() || getenv("OMP_TOOL_LIBRARIES") != NULL) return;
  const long before = most_kilobytes();
  long sum = 0;
#pragma omp parallel for ordered(2) num_threads(1)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 2; ++j) {
#pragma omp ordered depend(sink : i - 1, j)
      sum += j;
#pragma omp ordered depend(source)
    }
  CHECK_EQ(sum, rows);
  CHECK_LE(most_kilobytes() - before, 16 << 10);
}

/* A sink beside the last column is none. clang says of each loop that it has one iteration more, for which libomp waits
 * for ever. */
#define BESIDE_THE_END(clause)                                                                                  \
  {                                                                                                             \
    int grid[N][M] = {{0}}, expected[N][M] = {{0}};                                                             \
    _Pragma("omp parallel") {                                                                                   \
      _Pragma(clause) for (int i = 1; i < N; ++i) for (int j = 0; j < M; ++j) {                                 \
        _Pragma("omp ordered depend(sink : i - 1, j + 1)") grid[i][j] = j + 1 < M ? grid[i - 1][j + 1] + j : i; \
        _Pragma("omp ordered depend(source)") check_work(10);                                                   \
      }                                                                                                         \
    }                                                                                                           \
    for (int i = 1; i < N; ++i)                                                                                 \
      for (int j = 0; j < M; ++j) {                                                                             \
        expected[i][j] = j + 1 < M ? expected[i - 1][j + 1] + j : i;                                            \
        CHECK_EQ(grid[i][j], expected[i][j]);                                                                   \
      }                                                                                                         \
  }

static void beside_the_end(void) {
  if (check_where != CHECK_SERIAL || getenv("CHECK_RUNTIME") == NULL) return;
  BESIDE_THE_END("omp for ordered(2) schedule(static, 1)")
  BESIDE_THE_END("omp for ordered(2) schedule(static)")
  BESIDE_THE_END("omp for ordered(2) schedule(dynamic)")
  int runs = 0;
#pragma omp parallel
#pragma omp for collapse(2) ordered(3) schedule(dynamic)
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 7; ++j)
      for (int k = 9; k > 0; k -= 2) {
#pragma omp ordered depend(sink : i, j - 1, k - 2) depend(sink : i - 1, j + 1, k)
        check_add(&runs, 1);
#pragma omp ordered depend(source)
      }
  CHECK_EQ(runs, 6 * 7 * 5);
}

/* The clause makes a schedule monotonic: while the first iteration runs, the next one is begun by another member, and
 * not one further on, which would have to wait for all in between. clang asks for a nonmonotonic loop. */
static void begun_in_order(void) {
  if (check_where != CHECK_SERIAL) return;
#ifdef __clang__
  if (getenv("CHECK_RUNTIME") == NULL) return;
#endif
  int second_has_begun = 0, seen = 0;
#pragma omp parallel
#pragma omp for ordered(1) schedule(dynamic)
  for (int i = 0; i < N; ++i) {
    if (i == 1) check_store(&second_has_begun, 1);
#pragma omp ordered depend(sink : i - 1)
    if (i == 0) {
      const double end = omp_get_wtime() + 60;
      seen = omp_get_num_threads() == 1;
      while (!seen && omp_get_wtime() < end) {
        sched_yield();
        seen = check_load(&second_has_begun);
      }
    }
#pragma omp ordered depend(source)
  }
  CHECK(seen);
}

static void body(void) {
  wavefronts();
  one_loop();
  kinds_of_loops();
  nowait_loops();
  alone();
  alone_for_long();
  beside_the_end();
  begun_in_order();
}

CHECK_MAIN(body)
