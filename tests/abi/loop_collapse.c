/* collapse: rectangular, with negative steps, zero trips in one dimension, mixed types, and non-rectangular. */
#include "check.h"

static void rectangular(int n, int m, int k) {
  const size_t total = (size_t)(n * m * k);
  int* times = (int*)calloc(total + 1, sizeof(int));
#pragma omp parallel
  {
#pragma omp for collapse(3) schedule(static)
    for (int a = 0; a < n; ++a)
      for (int b = m - 1; b >= 0; --b)
        for (int c = 0; c < k; ++c) check_add(&times[(a * m + b) * k + c], 1);
#pragma omp for collapse(3) schedule(dynamic, 5)
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < m; ++b)
        for (int c = k; c > 0; --c) check_add(&times[(a * m + b) * k + c - 1], 1);
#pragma omp for collapse(2) schedule(guided)
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < m; ++b)
        for (int c = 0; c < k; ++c) check_add(&times[(a * m + b) * k + c], 1);
#pragma omp for collapse(3) schedule(runtime)
    for (long a = 0; a < n; ++a)
      for (unsigned short b = 0; b < m; ++b)
        for (unsigned long long c = 0; c < (unsigned long long)k; ++c) check_add(&times[(a * m + b) * k + (long)c], 1);
  }
  for (size_t i = 0; i < total; ++i) CHECK_EQ(times[i], 4);
  free(times);
}

static void ordered_collapse(void) {
  int next = 0;
#pragma omp parallel for collapse(2) ordered schedule(dynamic)
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < 9; ++b) {
#pragma omp ordered
      {
        CHECK_EQ(next, a * 9 + b);
        ++next;
      }
    }
  CHECK_EQ(next, 72);
}

static void triangular(int n) {
  int cells[40][40] = {{0}};
#pragma omp parallel for collapse(2)
  for (int a = 0; a < n; ++a)
    for (int b = 0; b <= a; ++b) check_add(&cells[a][b], 1);
#pragma omp parallel for collapse(2)
  for (int a = 0; a < n; ++a)
    for (int b = a; b < n; ++b) check_add(&cells[a][b], 1);
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) CHECK_EQ(cells[a][b], a == b ? 2 : 1);
}

static void lastprivate_collapse(void) {
  int a, b, last = -1;
#pragma omp parallel for collapse(2) lastprivate(a, b, last) schedule(dynamic)
  for (a = 0; a < 7; ++a)
    for (b = 0; b < 11; ++b) last = a * 100 + b;
  CHECK_EQ(a, 7);
  CHECK_EQ(b, 11);
  CHECK_EQ(last, 610);
}

static void body(void) {
  rectangular(5, 6, 7);
  rectangular(1, 50, 1);
  rectangular(4, 0, 9);
  rectangular(0, 3, 3);
  ordered_collapse();
  triangular(40);
  lastprivate_collapse();
}

CHECK_MAIN(body)
