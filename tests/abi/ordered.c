/* ordered: iteration order in every schedule, bodies that some iterations skip, code before and after the block. */
#include "check.h"

typedef struct {
  int next; /* changed in ordered blocks only */
  int wrong;
  int inside;
} turn;

static void take(turn* t, int i) {
  if (check_add(&t->inside, 1) != 1) t->wrong++;
  if (t->next != i) t->wrong++;
  t->next = i + 1;
  check_add(&t->inside, -1);
}

#define ORDERED_LOOP(clause)                                                                         \
  do {                                                                                               \
    turn t = {0, 0, 0};                                                                              \
    _Pragma(clause) for (int i = 0; i < n; ++i) {                                                    \
      check_work(i % 7 * 20);                                                                        \
      _Pragma("omp ordered") take(&t, i);                                                            \
      check_work(i % 5 * 20);                                                                        \
    }                                                                                                \
    if (t.wrong != 0 || t.next != n) check_fail_values(__FILE__, __LINE__, clause, t.wrong, t.next); \
  } while (0)

static void every_schedule(int n) {
  ORDERED_LOOP("omp parallel for ordered");
  ORDERED_LOOP("omp parallel for ordered schedule(static)");
  ORDERED_LOOP("omp parallel for ordered schedule(static, 1)");
  ORDERED_LOOP("omp parallel for ordered schedule(static, 7)");
  ORDERED_LOOP("omp parallel for ordered schedule(dynamic)");
  ORDERED_LOOP("omp parallel for ordered schedule(dynamic, 3)");
  ORDERED_LOOP("omp parallel for ordered schedule(guided)");
  ORDERED_LOOP("omp parallel for ordered schedule(guided, 4)");
  ORDERED_LOOP("omp parallel for ordered schedule(auto)");
  ORDERED_LOOP("omp parallel for ordered schedule(runtime)");
}

/* Iterations that do not execute the ordered block. */
static void skipping(int n, int modulus) {
  int last = -1, wrong = 0, times = 0;
#pragma omp parallel
  {
#pragma omp for ordered schedule(dynamic, 2)
    for (int i = 0; i < n; ++i) {
      if (i % modulus != 0) continue;
#pragma omp ordered
      {
        wrong += i <= last;
        last = i;
        ++times;
      }
    }
#pragma omp single
    last = -1;
#pragma omp for ordered schedule(static, 3)
    for (int i = 0; i < n; ++i) {
      if (i % modulus == 0) continue;
#pragma omp ordered
      {
        wrong += i <= last;
        last = i;
        ++times;
      }
    }
#pragma omp single
    last = -1;
#pragma omp for ordered schedule(guided)
    for (unsigned long long i = 0; i < (unsigned long long)n; ++i) {
      if (i < (unsigned long long)n - 1) continue;
#pragma omp ordered
      ++times;
    }
#pragma omp for ordered schedule(static)
    for (int i = 0; i < n; ++i) {
      if (i >= 0) continue;
#pragma omp ordered
      ++times;
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(times, n + 1);
}

static void ordered_in_function(turn* t, int i) {
#pragma omp ordered
  take(t, i);
}

static void orphaned(int n) {
  turn t = {0, 0, 0};
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < n; ++i) ordered_in_function(&t, i);
  CHECK_EQ(t.wrong, 0);
  CHECK_EQ(t.next, n);
}

static void downwards(int n) {
  int expected = n - 1, wrong = 0;
#pragma omp parallel for ordered schedule(dynamic, 2)
  for (int i = n - 1; i >= 0; --i) {
#pragma omp ordered
    {
      wrong += i != expected;
      --expected;
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(expected, -1);
}

/* Outside any region the construct does nothing but run its block. */
static void without_a_team(void) {
  turn t = {0, 0, 0};
#pragma omp for ordered
  for (int i = 0; i < 10; ++i) {
#pragma omp ordered
    take(&t, i);
  }
  CHECK_EQ(t.wrong, 0);
  CHECK_EQ(t.next, 10);
}

static void body(void) {
  every_schedule(CHECK_SCALE(120));
  every_schedule(1);
  every_schedule(0);
  skipping(60, 3);
  skipping(17, 5);
  orphaned(50);
  downwards(50);
  if (check_where == CHECK_SERIAL) without_a_team();
}

CHECK_MAIN(body)
