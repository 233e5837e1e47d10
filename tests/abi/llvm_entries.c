/* Entry points of LLVM's runtime that its C compilers make no use of, or only in rare cases, called as Intel's and
 * older compilers do. */
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"

typedef struct {
  int32_t reserved_1, flags, reserved_2, reserved_3;
  const char* source;
} place;
static place here = {0, 2, 0, 0, ";file;function;1;1;;"};

typedef int32_t critical_name[8];

int32_t __kmpc_global_thread_num(place*);
int32_t __kmpc_bound_thread_num(place*);
int32_t __kmpc_bound_num_threads(place*);
int32_t __kmpc_in_parallel(place*);
int32_t __kmpc_ok_to_fork(place*);
void __kmpc_fork_call(place*, int32_t, void*, ...);
void __kmpc_fork_call_if(place*, int32_t, void*, int32_t, void*);
void __kmpc_push_num_threads(place*, int32_t, int32_t);
void __kmpc_serialized_parallel(place*, int32_t);
void __kmpc_end_serialized_parallel(place*, int32_t);
void __kmpc_barrier(place*, int32_t);
int32_t __kmpc_barrier_master(place*, int32_t);
void __kmpc_end_barrier_master(place*, int32_t);
int32_t __kmpc_barrier_master_nowait(place*, int32_t);
int32_t __kmpc_sections_init(place*, int32_t);
int32_t __kmpc_next_section(place*, int32_t, int32_t);
void __kmpc_end_sections(place*, int32_t);
int32_t __kmpc_reduce(place*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), critical_name*);
void __kmpc_end_reduce(place*, int32_t, critical_name*);
void* __kmpc_copyprivate_light(place*, int32_t, void*);
int32_t __kmpc_single(place*, int32_t);
void __kmpc_end_single(place*, int32_t);
void __kmpc_for_static_init_4(place*, int32_t, int32_t, int32_t*, int32_t*, int32_t*, int32_t*, int32_t, int32_t);
void __kmpc_for_static_init_8u(place*, int32_t, int32_t, int32_t*, uint64_t*, uint64_t*, int64_t*, int64_t, int64_t);
void __kmpc_dispatch_init_4u(place*, int32_t, int32_t, uint32_t, uint32_t, int32_t, int32_t);
int32_t __kmpc_dispatch_next_4u(place*, int32_t, int32_t*, uint32_t*, uint32_t*, int32_t*);
void __kmpc_dispatch_init_8(place*, int32_t, int32_t, int64_t, int64_t, int64_t, int64_t);
int32_t __kmpc_dispatch_next_8(place*, int32_t, int32_t*, int64_t*, int64_t*, int64_t*);
void __kmpc_init_lock(place*, int32_t, void**);
void __kmpc_set_lock(place*, int32_t, void**);
int __kmpc_test_lock(place*, int32_t, void**);
void __kmpc_unset_lock(place*, int32_t, void**);
void __kmpc_destroy_lock(place*, int32_t, void**);
void __kmpc_init_nest_lock(place*, int32_t, void**);
void __kmpc_set_nest_lock(place*, int32_t, void**);
int __kmpc_test_nest_lock(place*, int32_t, void**);
void __kmpc_unset_nest_lock(place*, int32_t, void**);
void __kmpc_destroy_nest_lock(place*, int32_t, void**);
void* __kmpc_threadprivate(place*, int32_t, void*, size_t);
void __kmpc_threadprivate_register(place*, void*, void* (*)(void*), void*, void (*)(void*));
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);

/* ------------------------------------------------------------------ regions */

static void count_members(int32_t* thread, int32_t* number, int* count) {
  CHECK_EQ(*number, omp_get_thread_num());
  CHECK_EQ(*number, __kmpc_bound_thread_num(&here));
  CHECK_EQ(*thread, __kmpc_global_thread_num(&here));
  CHECK_EQ(__kmpc_bound_num_threads(&here), omp_get_num_threads());
  CHECK_EQ(__kmpc_in_parallel(&here), omp_in_parallel());
  check_add(count, 1);
}

static void count_without(int32_t* thread, int32_t* number) {
  (void)thread;
  CHECK_EQ(*number, omp_get_thread_num());
}

/* Through pointers that the compiler cannot see through: it takes both for functions that always say the same. */
static int (*volatile level_now)(void) = omp_get_level;
static int32_t (*volatile number_now)(place*) = __kmpc_global_thread_num;

static void regions(void) {
  int count = 0;
  const int32_t self = __kmpc_global_thread_num(&here);
  CHECK_EQ(__kmpc_ok_to_fork(&here), 1);
  __kmpc_push_num_threads(&here, self, 3);
  __kmpc_fork_call(&here, 1, count_members, &count);
  CHECK_EQ(count, 3);
  __kmpc_push_num_threads(&here, self, 4);
  __kmpc_fork_call_if(&here, 1, count_members, 1, &count);
  CHECK_EQ(count, 7);
  __kmpc_fork_call_if(&here, 1, count_members, 0, &count);
  CHECK_EQ(count, 8);
  __kmpc_fork_call_if(&here, 0, count_without, 1, NULL);
  const int level = level_now();
  __kmpc_serialized_parallel(&here, self);
  CHECK_EQ(level_now(), level + 1);
  __kmpc_end_serialized_parallel(&here, self);
  CHECK_EQ(level_now(), level);
}

/* Each of the members that live at a time has a number of its own, and keeps it. */
static void numbers(void) {
  enum { size = 8 };
  int32_t number[size];
#pragma omp parallel num_threads(size)
  {
    const int me = omp_get_thread_num();
    number[me] = number_now(&here);
#pragma omp barrier
    CHECK_EQ(number[me], number_now(&here));
    for (int i = 0; i < me; ++i) CHECK(number[i] != number[me]);
#pragma omp barrier
    CHECK_EQ(number[me], number_now(&here));
  }
}

/* ------------------------------------------------------------------ constructs */

static void add(void* to, void* from) { *(int*)to += *(int*)from; }

static void constructs(void) {
  int masters = 0, sections[7] = {0}, sum = 0, light = 0;
  static critical_name name;
#pragma omp parallel num_threads(4)
  {
    const int32_t self = __kmpc_global_thread_num(&here);
    if (__kmpc_barrier_master(&here, self)) {
      check_add(&masters, 1);
      __kmpc_end_barrier_master(&here, self);
    }
    CHECK_EQ(check_load(&masters), 1);
    __kmpc_barrier(&here, self);
    if (__kmpc_barrier_master_nowait(&here, self)) check_add(&masters, 1);
    __kmpc_barrier(&here, self);
    CHECK_EQ(check_load(&masters), 2);

    if (__kmpc_sections_init(&here, self)) {
      for (int32_t section; section = __kmpc_next_section(&here, self, 7), section >= 0 && section < 7;)
        check_add(&sections[section], 1);
    }
    __kmpc_end_sections(&here, self);
    __kmpc_barrier(&here, self);

    int mine = omp_get_thread_num() + 1;
    switch (__kmpc_reduce(&here, self, 1, sizeof mine, &mine, add, &name)) {
      case 1:
        sum += mine;
        __kmpc_end_reduce(&here, self, &name);
        break;
      case 2:
        check_add(&sum, mine);
        __kmpc_end_reduce(&here, self, &name);
        break;
      default:
        break;
    }
    CHECK_EQ(check_load(&sum), 10);

    int value = omp_get_thread_num(), executes = __kmpc_single(&here, self);
    if (executes) __kmpc_end_single(&here, self);
    int* from = __kmpc_copyprivate_light(&here, self, executes ? &value : NULL);
    const int copied = *from;
    __kmpc_barrier(&here, self);
    if (executes) check_add(&light, copied + 1);
    __kmpc_barrier(&here, self);
    CHECK_EQ(copied + 1, check_load(&light));
    __kmpc_barrier(&here, self);
  }
  if (masters == 2 && sections[0] != 0) /* a region of one runs its sections without the runtime */
    for (int i = 0; i < 7; ++i) CHECK_EQ(sections[i], 1);
}

/* ------------------------------------------------------------------ loops at the ends of their types */

static void loops(void) {
  enum { sch_static_chunked = 33, sch_static = 34, sch_dynamic = 35, sch_guided = 36, nm_dynamic = 163 };
  int counts[5][16] = {{0}}, lasts[5] = {0};
#pragma omp parallel num_threads(3)
  {
    const int32_t self = __kmpc_global_thread_num(&here);
    for (int kind = 0; kind < 2; ++kind) { /* the last 16 values of int */
      int32_t last = 0, lower = INT32_MAX - 15, upper = INT32_MAX, stride = 1;
      __kmpc_for_static_init_4(&here, self, kind == 0 ? sch_static : sch_static_chunked, &last, &lower, &upper, &stride,
                               1, 16);
      for (int64_t i = lower; i <= upper && lower <= upper; ++i) check_add(&counts[kind][i - (INT32_MAX - 15)], 1);
      if (last) check_add(&lasts[kind], 1);
    }
    { /* downwards over all of uint64_t in steps of 2^60 */
      int32_t last = 0;
      uint64_t lower = UINT64_MAX, upper = 0;
      int64_t stride = 1;
      const int64_t step = -(INT64_C(1) << 60);
      __kmpc_for_static_init_8u(&here, self, sch_static, &last, &lower, &upper, &stride, step, 1);
      if (lower >= upper)
        for (uint64_t i = lower;; i += (uint64_t)step) {
          check_add(&counts[2][i >> 60], 1);
          if (i - upper < (uint64_t)-step) break;
        }
      if (last) check_add(&lasts[2], 1);
    }
    { /* the last 16 values of uint32_t, two at a time */
      int32_t last = 0, stride = 0;
      uint32_t lower = 0, upper = 0;
      __kmpc_dispatch_init_4u(&here, self, nm_dynamic, UINT32_MAX - 15, UINT32_MAX, 1, 2);
      while (__kmpc_dispatch_next_4u(&here, self, &last, &lower, &upper, &stride)) {
        for (uint64_t i = lower; i <= upper; i += (uint64_t)stride) check_add(&counts[3][i - (UINT32_MAX - 15)], 1);
        if (last) check_add(&lasts[3], 1);
      }
    }
    { /* the first 16 values of int64_t, downwards */
      int32_t last = 0;
      int64_t lower = 0, upper = 0, stride = 0;
      __kmpc_dispatch_init_8(&here, self, sch_guided, INT64_MIN + 15, INT64_MIN, -1, 1);
      while (__kmpc_dispatch_next_8(&here, self, &last, &lower, &upper, &stride)) {
        for (int64_t i = lower;; i += stride) {
          check_add(&counts[4][(uint64_t)i - (uint64_t)INT64_MIN], 1);
          if (i == upper) break;
        }
        if (last) check_add(&lasts[4], 1);
      }
    }
  }
  for (int kind = 0; kind < 5; ++kind) {
    CHECK_EQ(lasts[kind], 1);
    for (int i = 0; i < 16; ++i) CHECK_EQ(counts[kind][i], 1);
  }
}

/* As the compilers' code goes from chunk to chunk; a round of them may be more than the type holds. */
static void large_chunks(void) {
  static const int32_t chunks[] = {1, 7, 99, 100, 1 << 28, 1 << 29, 1 << 30, INT32_MAX};
  for (int i = 0; i < 8; ++i)
    for (int step = -3; step <= 3; ++step) {
      int counts[100] = {0}, lasts = 0;
      if (step == 0) continue;
#pragma omp parallel num_threads(4)
      {
        const int32_t self = __kmpc_global_thread_num(&here);
        const int32_t end = 99 * step;
        int32_t last = 0, lower = 0, upper = end, stride = 1;
        __kmpc_for_static_init_4(&here, self, 33, &last, &lower, &upper, &stride, step, chunks[i]);
        for (int turn = 0; turn < 100 && (step > 0 ? lower <= end : lower >= end); ++turn) {
          if (step > 0 ? upper > end : upper < end) upper = end;
          for (int32_t at = lower; step > 0 ? at <= upper : at >= upper; at += step) check_add(&counts[at / step], 1);
          lower = (int32_t)((uint32_t)lower + (uint32_t)stride);
          upper = (int32_t)((uint32_t)upper + (uint32_t)stride);
        }
        if (last) check_add(&lasts, 1);
      }
      CHECK_EQ(lasts, 1);
      for (int at = 0; at < 100; ++at) CHECK_EQ(counts[at], 1);
    }
}

/* Loops so near the end of their type that a further round of chunks has no values any more. */
static void last_rounds(void) {
  enum { trips = 1000 };
  static const int32_t chunks[] = {1, 7, 300, 999};
  for (int i = 0; i < 16; ++i) {
    const int32_t chunk = chunks[i / 4], first = INT32_MAX - trips, end = INT32_MAX - 1;
    int counts[trips] = {0}, lasts = 0, strays = 0;
#pragma omp parallel num_threads(i % 4 + 1)
    {
      const int32_t self = __kmpc_global_thread_num(&here);
      int32_t last = 0, lower = first, upper = end, stride = 1;
      __kmpc_for_static_init_4(&here, self, 33, &last, &lower, &upper, &stride, 1, chunk);
      for (;;) {
        if (upper > end) upper = end;
        if (lower > upper) break;
        if (lower < first) {
          check_add(&strays, 1);
          break;
        }
        for (int32_t at = lower; at <= upper; ++at) check_add(&counts[at - first], 1);
        lower = (int32_t)((uint32_t)lower + (uint32_t)stride);
        upper = (int32_t)((uint32_t)upper + (uint32_t)stride);
      }
      if (last) check_add(&lasts, 1);
    }
    CHECK_EQ(strays, 0);
    CHECK_EQ(lasts, 1);
    for (int at = 0; at < trips; ++at) CHECK_EQ(counts[at], 1);
  }
}

/* ------------------------------------------------------------------ locks, tasks */

static void locks(void) {
  void *lock, *nest;
  int count = 0;
  __kmpc_init_lock(&here, 0, &lock);
  __kmpc_init_nest_lock(&here, 0, &nest);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 50; ++i) {
    const int32_t self = __kmpc_global_thread_num(&here);
    __kmpc_set_lock(&here, self, &lock);
    ++count;
    __kmpc_unset_lock(&here, self, &lock);
    __kmpc_set_nest_lock(&here, self, &nest);
    __kmpc_set_lock(&here, self, &lock);
    CHECK_EQ(__kmpc_test_nest_lock(&here, self, &nest), 2);
    ++count;
    __kmpc_unset_nest_lock(&here, self, &nest);
    __kmpc_unset_lock(&here, self, &lock);
    __kmpc_unset_nest_lock(&here, self, &nest);
  }
  CHECK_EQ(count, 400);
  CHECK_EQ(__kmpc_test_lock(&here, 0, &lock), 1);
  CHECK_EQ(__kmpc_test_lock(&here, 0, &lock), 0);
  __kmpc_unset_lock(&here, 0, &lock);
  __kmpc_destroy_lock(&here, 0, &lock);
  __kmpc_destroy_nest_lock(&here, 0, &nest);
}

typedef struct {
  void *shared, *routine;
  int32_t part;
  void *destroy, *priority;
} llvm_task;
typedef struct {
  size_t address, size;
  uint8_t flags;
} llvm_dependence;
llvm_task* __kmpc_omp_task_alloc(place*, int32_t, int32_t, size_t, size_t, void*);
int32_t __kmpc_omp_task_with_deps(place*, int32_t, llvm_task*, int32_t, llvm_dependence*, int32_t, llvm_dependence*);

/* How compilers say taskwait depend(...) nowait that do not know the entry point for it. */
static void task_without_function(void) {
  int first = 0, second = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    const int32_t self = __kmpc_global_thread_num(&here);
#pragma omp task depend(out : first) shared(first)
    first = 1;
    llvm_dependence on[2] = {{(size_t)&first, sizeof first, 1}, {(size_t)&second, sizeof second, 3}};
    __kmpc_omp_task_with_deps(&here, self, __kmpc_omp_task_alloc(&here, self, 1, sizeof(llvm_task), 0, NULL), 2, on, 0,
                              NULL);
#pragma omp task depend(in : second) shared(first, second)
    second = first + 1;
#pragma omp taskwait
    CHECK_EQ(second, 2);
  }
}

static void task_ids(void) {
#pragma omp parallel num_threads(2)
  {
    const uint64_t outer = __kmpc_get_taskid();
#pragma omp task
    {
      CHECK(__kmpc_get_taskid() != outer);
      CHECK(__kmpc_get_parent_taskid() == outer);
    }
#pragma omp taskwait
    CHECK(__kmpc_get_taskid() == outer);
  }
}

/* ------------------------------------------------------------------ threadprivate, without thread-local storage */

static int counter = 7;
static int constructed, destroyed;
static double object;
static void* construct(void* at) {
  *(double*)at = 2.5;
  check_add(&constructed, 1);
  return at;
}
static void destroy(void* at) {
  (void)at;
  check_add(&destroyed, 1);
}

static void threadprivates(void) {
  int same = 0, members = 0;
  __kmpc_threadprivate_register(&here, &object, construct, NULL, destroy);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(4)
    {
      const int32_t self = __kmpc_global_thread_num(&here);
      int* mine = __kmpc_threadprivate(&here, self, &counter, sizeof counter);
      CHECK_EQ(*mine, 7 + round);
      ++*mine;
      double* own = __kmpc_threadprivate(&here, self, &object, sizeof object);
      if (own == &object) check_add(&same, 1);
      CHECK_EQ(*own == (own == &object ? 0 : 2.5), 1);
      check_add(&members, 1);
    }
  }
  CHECK_EQ(counter, 10); /* the initial thread's is the variable itself */
  CHECK_EQ(same, 3);
  CHECK_EQ(constructed, members / 3 - 1);
}

/* ------------------------------------------------------------------ atomics */

#define ATOMIC(type, T, operation, from, with, expected)                                       \
  do {                                                                                         \
    void __kmpc_atomic_##type##_##operation(place*, int, T*, T);                               \
    T __kmpc_atomic_##type##_##operation##_cpt(place*, int, T*, T, int);                       \
    T x = (from);                                                                              \
    __kmpc_atomic_##type##_##operation(&here, 0, &x, (with));                                  \
    CHECK(x == (T)(expected));                                                                 \
    x = (from);                                                                                \
    CHECK(__kmpc_atomic_##type##_##operation##_cpt(&here, 0, &x, (with), 0) == (T)(from));     \
    CHECK(x == (T)(expected));                                                                 \
    x = (from);                                                                                \
    CHECK(__kmpc_atomic_##type##_##operation##_cpt(&here, 0, &x, (with), 1) == (T)(expected)); \
  } while (0)
#define REVERSED(type, T, operation, from, with, expected)                                         \
  do {                                                                                             \
    void __kmpc_atomic_##type##_##operation##_rev(place*, int, T*, T);                             \
    T __kmpc_atomic_##type##_##operation##_cpt_rev(place*, int, T*, T, int);                       \
    T x = (from);                                                                                  \
    __kmpc_atomic_##type##_##operation##_rev(&here, 0, &x, (with));                                \
    CHECK(x == (T)(expected));                                                                     \
    x = (from);                                                                                    \
    CHECK(__kmpc_atomic_##type##_##operation##_cpt_rev(&here, 0, &x, (with), 1) == (T)(expected)); \
  } while (0)
#define MOVED(type, T, from, to)                                        \
  do {                                                                  \
    T __kmpc_atomic_##type##_rd(place*, int, T*);                       \
    void __kmpc_atomic_##type##_wr(place*, int, T*, T);                 \
    T __kmpc_atomic_##type##_swp(place*, int, T*, T);                   \
    T x = (from);                                                       \
    CHECK(__kmpc_atomic_##type##_rd(&here, 0, &x) == (T)(from));        \
    CHECK(__kmpc_atomic_##type##_swp(&here, 0, &x, (to)) == (T)(from)); \
    CHECK(x == (T)(to));                                                \
    __kmpc_atomic_##type##_wr(&here, 0, &x, (from));                    \
    CHECK(x == (T)(from));                                              \
  } while (0)
#define INTEGER(type, T)            \
  ATOMIC(type, T, add, 5, 7, 12);   \
  ATOMIC(type, T, sub, 5, 7, -2);   \
  ATOMIC(type, T, mul, 5, 7, 35);   \
  ATOMIC(type, T, div, -35, 7, -5); \
  ATOMIC(type, T, andb, 12, 10, 8); \
  ATOMIC(type, T, orb, 12, 10, 14); \
  ATOMIC(type, T, xor, 12, 10, 6);  \
  ATOMIC(type, T, neqv, 12, 10, 6); \
  ATOMIC(type, T, eqv, 12, 10, ~6); \
  ATOMIC(type, T, andl, 12, 0, 0);  \
  ATOMIC(type, T, orl, 0, 10, 1);   \
  ATOMIC(type, T, shl, 3, 2, 12);   \
  ATOMIC(type, T, shr, -8, 2, -2);  \
  ATOMIC(type, T, max, 3, 5, 5);    \
  ATOMIC(type, T, min, 3, 5, 3);    \
  REVERSED(type, T, sub, 5, 7, 2);  \
  REVERSED(type, T, div, 5, 35, 7); \
  REVERSED(type, T, shl, 2, 3, 12); \
  REVERSED(type, T, shr, 1, 8, 4);  \
  MOVED(type, T, 3, 9)
#define UNSIGNED(type, T)                   \
  ATOMIC(type, T, div, -1, 2, (T)-1 / 2);   \
  ATOMIC(type, T, shr, -1, 1, (T)-1 >> 1);  \
  REVERSED(type, T, div, 2, -1, (T)-1 / 2); \
  REVERSED(type, T, shr, 1, -1, (T)-1 >> 1)
#define REAL(type, T)                  \
  ATOMIC(type, T, add, 1.5, 2, 3.5);   \
  ATOMIC(type, T, sub, 1.5, 2, -0.5);  \
  ATOMIC(type, T, mul, 1.5, 2, 3);     \
  ATOMIC(type, T, div, 1.5, 2, 0.75);  \
  ATOMIC(type, T, max, 1.5, 2, 2);     \
  ATOMIC(type, T, min, 1.5, 2, 1.5);   \
  REVERSED(type, T, sub, 1.5, 2, 0.5); \
  REVERSED(type, T, div, 4, 2, 0.5);   \
  MOVED(type, T, 1.5, -2)
#define COMPLEX(type, T)                                   \
  ATOMIC(type, T, add, 1 + 2 * I, 3 - 1 * I, 4 + 1 * I);   \
  ATOMIC(type, T, sub, 1 + 2 * I, 3 - 1 * I, -2 + 3 * I);  \
  ATOMIC(type, T, mul, 1 + 2 * I, 3 - 1 * I, 5 + 5 * I);   \
  ATOMIC(type, T, div, 6 + 2 * I, 1 + 1 * I, 4 - 2 * I);   \
  REVERSED(type, T, sub, 1 + 2 * I, 3 - 1 * I, 2 - 3 * I); \
  REVERSED(type, T, div, 1 + 1 * I, 6 + 2 * I, 4 - 2 * I); \
  MOVED(type, T, 1 + 2 * I, 3 - 1 * I)

typedef signed char fixed1;
typedef long double float10;
typedef float complex cmplx4;
void __kmpc_atomic_cmplx4_add(place*, int, cmplx4*, cmplx4);
void __kmpc_atomic_cmplx4_mul_cpt(place*, int, cmplx4*, cmplx4, cmplx4*, int);
void __kmpc_atomic_cmplx4_swp(place*, int, cmplx4*, cmplx4, cmplx4*);
void __kmpc_atomic_cmplx4_div_cmplx8(place*, int, cmplx4*, double complex);
void __kmpc_atomic_fixed4_mul_float8(place*, int, int32_t*, double);
void __kmpc_atomic_float4_add_float8(place*, int, float*, double);
void __kmpc_atomic_8(place*, int, void*, void*, void (*)(void*, void*, void*));
void __kmpc_atomic_32(place*, int, void*, void*, void (*)(void*, void*, void*));
bool __kmpc_atomic_bool_4_cas(place*, int, int32_t*, int32_t, int32_t);
bool __kmpc_atomic_bool_4_cas_cpt(place*, int, int32_t*, int32_t, int32_t, int32_t*);
int64_t __kmpc_atomic_val_8_cas(place*, int, int64_t*, int64_t, int64_t);
int64_t __kmpc_atomic_val_8_cas_cpt(place*, int, int64_t*, int64_t, int64_t, int64_t*);

static void add_words(void* result, void* a, void* b) {
  const double sum = *(double*)a + *(double*)b;
  *(double*)result = sum;
}

static void atomics(void) {
  INTEGER(fixed1, fixed1);
  INTEGER(fixed2, int16_t);
  INTEGER(fixed4, int32_t);
  INTEGER(fixed8, int64_t);
  UNSIGNED(fixed1u, uint8_t);
  UNSIGNED(fixed2u, uint16_t);
  UNSIGNED(fixed4u, uint32_t);
  UNSIGNED(fixed8u, uint64_t);
  REAL(float4, float);
  REAL(float8, double);
  REAL(float10, float10);
  COMPLEX(cmplx8, double complex);
  COMPLEX(cmplx10, long double complex);

  cmplx4 z = 1 + 2 * I, out = 0;
  __kmpc_atomic_cmplx4_add(&here, 0, &z, 3 - 1 * I);
  CHECK(z == 4 + 1 * I);
  __kmpc_atomic_cmplx4_mul_cpt(&here, 0, &z, 2, &out, 1);
  CHECK(out == 8 + 2 * I && z == out);
  __kmpc_atomic_cmplx4_swp(&here, 0, &z, 6 + 2 * I, &out);
  CHECK(out == 8 + 2 * I && z == 6 + 2 * I);
  __kmpc_atomic_cmplx4_div_cmplx8(&here, 0, &z, 1 + 1 * I);
  CHECK(z == 4 - 2 * I);

  int32_t word = 10;
  float real = 1;
  __kmpc_atomic_fixed4_mul_float8(&here, 0, &word, 1.75);
  CHECK_EQ(word, 17);
  __kmpc_atomic_float4_add_float8(&here, 0, &real, 0.5);
  CHECK(real == 1.5F);

  int32_t held = 0;
  CHECK(!__kmpc_atomic_bool_4_cas(&here, 0, &word, 3, 4));
  CHECK(__kmpc_atomic_bool_4_cas(&here, 0, &word, 17, 18));
  CHECK(!__kmpc_atomic_bool_4_cas_cpt(&here, 0, &word, 17, 19, &held) && held == 18);
  int64_t wide = 5, now = 0;
  CHECK_EQ(__kmpc_atomic_val_8_cas(&here, 0, &wide, 4, 9), 5);
  CHECK_EQ(__kmpc_atomic_val_8_cas_cpt(&here, 0, &wide, 5, 9, &now), 5);
  CHECK_EQ(now, 9);

  double sum = 0;
  struct {
    double value, rest[3];
  } block = {0, {0}};
  long double lsum = 0;
  void __kmpc_atomic_float10_add(place*, int, float10*, float10);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 200; ++i) {
    double one = 1;
    __kmpc_atomic_8(&here, 0, &sum, &one, add_words);
    __kmpc_atomic_32(&here, 0, &block, &one, add_words);
    __kmpc_atomic_float10_add(&here, 0, &lsum, 1);
  }
  CHECK(sum == 800 && block.value == 800 && lsum == 800);
}

static void body(void) {
  regions();
  if (!check_sanitized()) numbers();
  constructs();
  loops();
  large_chunks();
  last_rounds();
  locks();
  task_ids();
  task_without_function();
  if (!check_sanitized()) threadprivates();
  atomics();
}

CHECK_MAIN_FLAT(body)
