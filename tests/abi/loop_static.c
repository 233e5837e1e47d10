/* schedule(static), with and without chunk: the assignment is fixed by the specification. */
#include "loop_log.h"

static void no_chunk(int n) {
  loop_log log = loop_log_new(n);
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) loop_log_hit(&log, i);
  LOOP_LOG_EACH_ONCE(&log);
  LOOP_LOG_MONOTONIC(&log);
  LOOP_LOG_BLOCKS(&log, omp_get_max_threads());
  loop_log_free(&log);
}

static void chunked(int n, int chunk) {
  loop_log log = loop_log_new(n);
#pragma omp parallel for schedule(static, chunk)
  for (int i = 0; i < n; ++i) loop_log_hit(&log, i);
  LOOP_LOG_EACH_ONCE(&log);
  LOOP_LOG_MONOTONIC(&log);
  LOOP_LOG_ROUND_ROBIN(&log, chunk, omp_get_max_threads());
  loop_log_free(&log);
}

/* Two static loops of the same size over the same team give the same member the same iterations. */
static void same_assignment_without_barrier(int n) {
  int* data = (int*)calloc((size_t)n, sizeof(int));
#pragma omp parallel
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) data[i] = i;
#pragma omp for schedule(static) nowait
    for (int i = 0; i < n; ++i) data[i] = data[i] * 2 + 1;
#pragma omp for schedule(static)
    for (int i = 0; i < n; ++i) CHECK_EQ(data[i], 2 * i + 1);
  }
  free(data);
}

static void body(void) {
  static const int sizes[] = {0, 1, 2, 7, 63, 64, 65, 1000};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    no_chunk(sizes[i]);
    for (int chunk = 1; chunk <= 20; chunk += 6) chunked(sizes[i], chunk);
    same_assignment_without_barrier(sizes[i]);
  }
  chunked(100, 1000);
}

CHECK_MAIN(body)
