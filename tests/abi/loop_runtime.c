/* schedule(runtime): what omp_set_schedule says, with and without the monotonic modifier. */
#include "loop_log.h"

typedef struct {
  omp_sched_t kind;
  int chunk; /* below 1: the default of the kind */
} choice;

/* libgomp deals auto as static; libomp in parts that become smaller. */
static int auto_is_static(void) {
#ifdef __clang__
  return getenv("CHECK_RUNTIME") != NULL;
#else
  return 1;
#endif
}

static void check_order(const loop_log* log, choice c) {
  const unsigned kind = (unsigned)c.kind & 0x7fffffffu;
  const int monotonic = ((unsigned)c.kind & 0x80000000u) != 0;
  LOOP_LOG_EACH_ONCE(log);
  if (monotonic || kind == omp_sched_static) LOOP_LOG_MONOTONIC(log);
  if (kind == omp_sched_static && c.chunk >= 1) LOOP_LOG_ROUND_ROBIN(log, c.chunk, omp_get_max_threads());
  if (kind == omp_sched_static && c.chunk < 1) LOOP_LOG_BLOCKS(log, omp_get_max_threads());
  if (kind == omp_sched_auto && auto_is_static()) LOOP_LOG_BLOCKS(log, omp_get_max_threads());
  if (kind == omp_sched_dynamic && c.chunk >= 1) LOOP_LOG_CHUNKS(log, c.chunk);
  if (kind == omp_sched_guided && c.chunk >= 1) LOOP_LOG_RUN_AT_LEAST(log, c.chunk);
}

static void fused(int n, choice c) {
  loop_log log = loop_log_new(n);
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) loop_log_hit(&log, i);
  check_order(&log, c);
  loop_log_free(&log);

  log = loop_log_new(n);
#pragma omp parallel for schedule(monotonic : runtime)
  for (int i = 0; i < n; ++i) loop_log_hit(&log, i);
  check_order(&log, c);
  LOOP_LOG_MONOTONIC(&log);
  loop_log_free(&log);

  log = loop_log_new(n);
#pragma omp parallel for schedule(nonmonotonic : runtime)
  for (int i = 0; i < n; ++i) loop_log_hit(&log, i);
  LOOP_LOG_EACH_ONCE(&log);
  loop_log_free(&log);
}

static void inside_a_region(int n, choice c) {
  loop_log first = loop_log_new(n), second = loop_log_new(n), third = loop_log_new(n);
  int in_order = 1, next = 0;
#pragma omp parallel
  {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, c.kind);
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < n; ++i) loop_log_hit(&first, i);
#pragma omp for schedule(runtime)
    for (unsigned long long i = 0; i < (unsigned long long)n; ++i) loop_log_hit(&second, (int)i);
#pragma omp for schedule(runtime) ordered
    for (int i = 0; i < n; ++i) {
      loop_log_hit(&third, i);
#pragma omp ordered
      {
        if (next != i) in_order = 0;
        ++next;
      }
    }
  }
  check_order(&first, c);
  check_order(&second, c);
  check_order(&third, c);
  CHECK(in_order);
  loop_log_free(&first);
  loop_log_free(&second);
  loop_log_free(&third);
}

/* Which GCC's code states by a number of its own. */
static void with_task_reduction(void) {
  enum { n = 20 };
  int who[n], sum = 0, members = 0;
#pragma omp parallel num_threads(4) shared(sum, members, who)
  {
#pragma omp single
    members = omp_get_num_threads();
#pragma omp for schedule(nonmonotonic : runtime) reduction(task, + : sum)
    for (int i = 0; i < n; ++i) {
      who[i] = omp_get_thread_num();
      sum += i;
    }
  }
  CHECK_EQ(sum, n * (n - 1) / 2);
  for (int i = 0; i < n; ++i) CHECK_EQ(who[i], i % members);
}

static void body(void) {
  const omp_sched_t monotonic = omp_sched_monotonic;
  const choice choices[] = {
      {omp_sched_static, 0},
      {omp_sched_static, 1},
      {omp_sched_static, 13},
      {omp_sched_dynamic, 0},
      {omp_sched_dynamic, 1},
      {omp_sched_dynamic, 9},
      {omp_sched_guided, 0},
      {omp_sched_guided, 4},
      {omp_sched_auto, 0},
      {omp_sched_static, 3},
      {omp_sched_auto, 0},
      {(omp_sched_t)(omp_sched_dynamic | monotonic), 6},
      {(omp_sched_t)(omp_sched_guided | monotonic), 3},
      {(omp_sched_t)(omp_sched_static | monotonic), 5},
  };
  omp_sched_t kind_before;
  int chunk_before;
  omp_get_schedule(&kind_before, &chunk_before);
  for (unsigned i = 0; i < sizeof choices / sizeof *choices; ++i) {
    omp_sched_t kind;
    int chunk;
    omp_set_schedule(choices[i].kind, choices[i].chunk);
    omp_get_schedule(&kind, &chunk);
    CHECK_EQ(kind, choices[i].kind);
    if (choices[i].chunk > 0) CHECK_EQ(chunk, choices[i].chunk);
    fused(150, choices[i]);
    fused(3, choices[i]);
    fused(0, choices[i]);
    inside_a_region(90, choices[i]);
    inside_a_region(0, choices[i]);
  }
  omp_set_schedule(omp_sched_static, 1);
  with_task_reduction();
  omp_set_schedule(kind_before, chunk_before);
}

CHECK_MAIN(body)
