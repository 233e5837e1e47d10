/* schedule(dynamic) and schedule(guided), with and without chunk, with and without modifier. */
#include "loop_log.h"

/* What OpenMP leaves open, and programs that GCC has built rely on: libgomp keeps to it, and so does libomp with them.
 */
#ifdef __clang__
enum { nonmonotonic_in_order = 0 };
#else
enum { nonmonotonic_in_order = 1 };
#endif

#define ONE_LOOP(check_order, schedule_clause)                                  \
  do {                                                                          \
    loop_log log = loop_log_new(n);                                             \
    _Pragma(schedule_clause) for (int i = 0; i < n; ++i) loop_log_hit(&log, i); \
    LOOP_LOG_EACH_ONCE(&log);                                                   \
    if (check_order) LOOP_LOG_MONOTONIC(&log);                                  \
    if (dynamic_chunk > 0) LOOP_LOG_CHUNKS(&log, dynamic_chunk);                \
    if (guided_chunk > 0) LOOP_LOG_RUN_AT_LEAST(&log, guided_chunk);            \
    loop_log_free(&log);                                                        \
  } while (0)

static void dynamic(int n, int chunk) {
  const int dynamic_chunk = chunk, guided_chunk = 0;
  ONE_LOOP(nonmonotonic_in_order, "omp parallel for schedule(dynamic, chunk)");
  ONE_LOOP(1, "omp parallel for schedule(monotonic : dynamic, chunk)");
  ONE_LOOP(nonmonotonic_in_order, "omp parallel for schedule(nonmonotonic : dynamic, chunk)");
}

static void guided(int n, int chunk) {
  const int dynamic_chunk = 0, guided_chunk = chunk;
  ONE_LOOP(nonmonotonic_in_order, "omp parallel for schedule(guided, chunk)");
  ONE_LOOP(1, "omp parallel for schedule(monotonic : guided, chunk)");
  ONE_LOOP(nonmonotonic_in_order, "omp parallel for schedule(nonmonotonic : guided, chunk)");
}

static void without_chunk(int n) {
  const int dynamic_chunk = 1, guided_chunk = 1;
  ONE_LOOP(nonmonotonic_in_order, "omp parallel for schedule(dynamic)");
  ONE_LOOP(1, "omp parallel for schedule(monotonic : dynamic)");
  ONE_LOOP(nonmonotonic_in_order, "omp parallel for schedule(guided)");
  ONE_LOOP(1, "omp parallel for schedule(monotonic : guided)");
  ONE_LOOP(0, "omp parallel for schedule(auto)");
}

/* The same loops as worksharing constructs inside one region, so that the loop is not fused with parallel. */
static void inside_a_region(int n) {
  loop_log logs[4];
  for (int i = 0; i < 4; ++i) logs[i] = loop_log_new(n);
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < n; ++i) loop_log_hit(&logs[0], i);
#pragma omp for schedule(guided, 2)
    for (int i = 0; i < n; ++i) loop_log_hit(&logs[1], i);
#pragma omp for schedule(monotonic : dynamic, 5)
    for (int i = 0; i < n; ++i) loop_log_hit(&logs[2], i);
#pragma omp for schedule(monotonic : guided)
    for (int i = 0; i < n; ++i) loop_log_hit(&logs[3], i);
  }
  for (int i = 0; i < 4; ++i) LOOP_LOG_EACH_ONCE(&logs[i]);
  LOOP_LOG_CHUNKS(&logs[0], 3);
  LOOP_LOG_RUN_AT_LEAST(&logs[1], 2);
  LOOP_LOG_CHUNKS(&logs[2], 5);
  for (int i = nonmonotonic_in_order ? 0 : 2; i < 4; ++i) LOOP_LOG_MONOTONIC(&logs[i]);
  for (int i = 0; i < 4; ++i) loop_log_free(&logs[i]);
}

/* A barrier stands at the end of a loop without nowait, for every schedule. */
static void implied_barrier(int n) {
  int done = 0;
#pragma omp parallel
  for (int round = 1; round <= 10; ++round) {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < n; ++i) check_add(&done, 1);
    CHECK_EQ(check_load(&done), round * n);
#pragma omp barrier
  }
}

static void body(void) {
  static const int sizes[] = {0, 1, 5, 64, 333, 2000};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    without_chunk(sizes[i]);
    inside_a_region(sizes[i]);
    for (int chunk = 1; chunk < 50; chunk = chunk * 3 + 1) {
      dynamic(sizes[i], chunk);
      guided(sizes[i], chunk);
    }
    dynamic(sizes[i], 5000);
    guided(sizes[i], 5000);
  }
  implied_barrier(50);
}

CHECK_MAIN(body)
