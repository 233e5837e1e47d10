/* private, firstprivate, lastprivate (also conditional), linear and reduction on worksharing loops; for simd. */
#include "check.h"

static void lastprivate(int n) {
  int i = -5, value = -1, pair[2] = {0, 0};
#pragma omp parallel for schedule(static) lastprivate(i, value)
  for (i = 0; i < n; ++i) value = i * 2;
  CHECK_EQ(i, n);
  CHECK_EQ(value, 2 * (n - 1));
#pragma omp parallel for schedule(dynamic, 3) lastprivate(value, pair)
  for (int k = 0; k < n; ++k) {
    value = k * 3;
    pair[0] = k;
    pair[1] = -k;
  }
  CHECK_EQ(value, 3 * (n - 1));
  CHECK_EQ(pair[0], n - 1);
  CHECK_EQ(pair[1], 1 - n);
#pragma omp parallel for schedule(guided) lastprivate(value)
  for (unsigned long long k = 0; k < (unsigned long long)n; ++k) value = (int)k * 5;
  CHECK_EQ(value, 5 * (n - 1));
#pragma omp parallel for schedule(runtime) firstprivate(value) lastprivate(value)
  for (int k = 0; k < n; ++k)
    if (k == n - 1) value += 1;
  CHECK(value > 0);
}

static void conditional_lastprivate(int n) {
  int value = -1, other = -1;
#pragma omp parallel for schedule(dynamic, 2) lastprivate(conditional : value)
  for (int i = 0; i < n; ++i)
    if (i % 7 == 3) value = i;
  CHECK_EQ(value, (n - 4) / 7 * 7 + 3);
#pragma omp parallel for schedule(static) lastprivate(conditional : other)
  for (int i = 0; i < n; ++i)
    if (i == n / 2) other = i;
  CHECK_EQ(other, n / 2);
}

static void linear(int n) {
  int base = 100, wrong = 0;
#pragma omp parallel for schedule(static) linear(base : 3) reduction(+ : wrong)
  for (int i = 0; i < n; ++i) {
    wrong += base != 100 + 3 * i;
    base += 3;
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(base, 100 + 3 * n);
  base = 0;
#pragma omp parallel for schedule(dynamic, 4) linear(base) reduction(+ : wrong)
  for (int i = 0; i < n; ++i) {
    wrong += base != i;
    base++;
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(base, n);
}

static void firstprivate(int n) {
  int seed = 11, sum = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic) firstprivate(seed) reduction(+ : sum)
    for (int i = 0; i < n; ++i) sum += seed;
#pragma omp single
    CHECK_EQ(sum, 11 * n);
  }
}

static void simd(int n) {
  double *x = (double*)malloc(sizeof(double) * (size_t)n), sum = 0;
#pragma omp parallel for simd schedule(simd : static)
  for (int i = 0; i < n; ++i) x[i] = i;
#pragma omp parallel for simd schedule(simd : dynamic, 8) reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i];
  CHECK(sum == (double)n * (n - 1) / 2);
  free(x);
}

/* The loop and the order(concurrent) constructs bind to the same worksharing. */
static void loop_construct(int n) {
  int times = 0;
#pragma omp parallel
  {
#pragma omp loop
    for (int i = 0; i < n; ++i) __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED);
#pragma omp for order(concurrent)
    for (int i = 0; i < n; ++i) __atomic_fetch_add(&times, 1, __ATOMIC_RELAXED);
  }
  CHECK_EQ(times, 2 * n);
}

/* Inclusive and exclusive scans. */
static void scans(int n) {
  int *in = (int*)malloc(sizeof(int) * (size_t)n), *out = (int*)malloc(sizeof(int) * (size_t)n), sum = 0;
  for (int i = 0; i < n; ++i) in[i] = i % 5 + 1;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < n; ++i) {
    sum += in[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
  for (int i = 0, expected = 0; i < n; ++i) {
    expected += in[i];
    CHECK_EQ(out[i], expected);
  }
  sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (int i = 0; i < n; ++i) {
    out[i] = sum;
#pragma omp scan exclusive(sum)
    sum += in[i];
  }
  for (int i = 0, expected = 0; i < n; ++i) {
    CHECK_EQ(out[i], expected);
    expected += in[i];
  }
  free(in);
  free(out);
}

static void body(void) {
  for (int n = 10; n < 200; n += 63) {
    lastprivate(n);
    conditional_lastprivate(n);
    linear(n);
    firstprivate(n);
    simd(n);
    loop_construct(n);
    scans(n);
  }
}

CHECK_MAIN(body)
