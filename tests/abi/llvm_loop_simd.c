/* Loops with the simd modifier of schedule, by the entry points that LLVM's and Intel's compilers call: chunks that the
 * schedule chooses are multiples of the width, but for the last one. And what run-sched-var is where nobody sets it. */
#include "check.h"

typedef struct {
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char* source;
} place;

enum { static_simd = 45, guided_simd = 46, runtime_simd = 47 };

void __kmpc_dispatch_init_4(place*, int32_t, int32_t, int32_t, int32_t, int32_t, int32_t);
int32_t __kmpc_dispatch_next_4(place*, int32_t, int32_t*, int32_t*, int32_t*, int32_t*);
void __kmpc_dispatch_init_8u(place*, int32_t, int32_t, uint64_t, uint64_t, int64_t, int64_t);
int32_t __kmpc_dispatch_next_8u(place*, int32_t, int32_t*, uint64_t*, uint64_t*, int64_t*);
int32_t __kmpc_global_thread_num(place*);

static place here = {0, 2, 0, 0, ";file;function;1;1;;"};

enum { most = 1000 };

/* The loop over [0, count) by steps; chunks must be multiples of `unit` and have no more than `limit` iterations (0:
 * any). */
static void loop(int32_t schedule, int count, int step, int width, int unit, int limit) {
  int hits[most] = {0}, chunks = 0;
#pragma omp parallel num_threads(4)
  {
    const int32_t self = __kmpc_global_thread_num(&here);
    int32_t last = 0, lower, upper, stride;
    __kmpc_dispatch_init_4(&here, self, schedule, 0, (count - 1) * step, step, width);
    while (__kmpc_dispatch_next_4(&here, self, &last, &lower, &upper, &stride)) {
      CHECK_EQ(stride, step);
      const int size = (upper - lower) / step + 1;
      const int ends = upper == (count - 1) * step;
      if (!ends) CHECK_EQ(size % unit, 0);
      if (limit != 0) CHECK_LE(size, limit);
      CHECK_EQ(lower / step % unit, 0);
      for (int i = lower / step; i <= upper / step; ++i) check_add(&hits[i], 1);
      check_add(&chunks, 1);
    }
  }
  for (int i = 0; i < count; ++i) CHECK_EQ(hits[i], 1);
  CHECK_GE(chunks, 1);
}

static void by_runtime(omp_sched_t kind, int chunk, int unit, int limit) {
  omp_sched_t before;
  int chunk_before;
  omp_get_schedule(&before, &chunk_before);
  omp_set_schedule(kind, chunk);
  static const int counts[] = {1, 3, 4, 27, 100, 999};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    loop(runtime_simd, counts[i], 1, 4, unit, limit);
    loop(runtime_simd, counts[i], -3, 4, unit, limit);
  }
  omp_set_schedule(before, chunk_before);
}

static void at_the_end_of_the_type(void) {
  uint64_t iterations = 0;
#pragma omp parallel num_threads(4) reduction(+ : iterations)
  {
    const int32_t self = __kmpc_global_thread_num(&here);
    int32_t last = 0;
    uint64_t lower, upper;
    int64_t stride;
    __kmpc_dispatch_init_8u(&here, self, guided_simd, UINT64_MAX - 1000, UINT64_MAX - 1, 1, 16);
    while (__kmpc_dispatch_next_8u(&here, self, &last, &lower, &upper, &stride)) iterations += upper - lower + 1;
  }
  CHECK_EQ(iterations, 1000);
}

static void body(void) {
  loop(static_simd, 100, 1, 8, 8, 32);
  loop(static_simd, 3, 1, 8, 8, 8);
  loop(guided_simd, 999, 2, 8, 8, 0);
  by_runtime(omp_sched_static, 0, 4, 0);
  by_runtime(omp_sched_static, 1, 4, 4);
  by_runtime(omp_sched_static, 3, 12, 12);
  by_runtime(omp_sched_dynamic, 1, 4, 4);
  by_runtime(omp_sched_dynamic, 5, 20, 20);
  by_runtime(omp_sched_guided, 1, 4, 0);
  by_runtime(omp_sched_guided, 3, 12, 0);
  by_runtime(omp_sched_auto, 0, 4, 0);
  at_the_end_of_the_type();
}

/* As in libomp, and otherwise than in libgomp. */
static void unset_schedule(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(kind, omp_sched_static);
  CHECK_EQ(chunk, 0);
  int first[4];
#pragma omp parallel num_threads(4)
#pragma omp for schedule(runtime)
  for (int i = 0; i < 4; ++i) first[i] = omp_get_thread_num();
  for (int i = 0; i < 4; ++i) CHECK_EQ(first[i], i);
}

int main(void) {
  check_runtime();
  if (getenv("OMP_SCHEDULE") == NULL) unset_schedule();
  return check_run(body);
}
