// Matrices with reproducible entries, and checks of C = A B and of z = A x that need no second BLAS.
#ifndef WEFT_BENCH_MATRICES_H
#define WEFT_BENCH_MATRICES_H

#include <math.h>

#include "common.h"

static double* new_matrix(int n, uint64_t seed) {
  double* matrix = allocate(sizeof(double) * (size_t)n * (size_t)n);
  uint64_t x = seed * 2654435761u + 88172645463325252u;
  for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    matrix[k] = (double)(x >> 40) / (double)(1 << 24) - 0.5;
  }
  return matrix;
}

// The largest deviation of C v from A (B v) over the entries of one vector v, relative to n: every entry of C
// counts.
static double product_error(int n, const double* a, const double* b, const double* c) {
  double *bv = allocate(sizeof(double) * (size_t)n), *abv = allocate(sizeof(double) * (size_t)n),
         *cv = allocate(sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++) bv[i] = abv[i] = cv[i] = 0;
  for (int j = 0; j < n; j++) {
    const double v = 1.0 + (double)(j % 7) / 8;
    for (int i = 0; i < n; i++) {
      bv[i] += b[(size_t)j * (size_t)n + (size_t)i] * v;
      cv[i] += c[(size_t)j * (size_t)n + (size_t)i] * v;
    }
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) abv[i] += a[(size_t)j * (size_t)n + (size_t)i] * bv[j];
  }
  double worst = 0;
  for (int i = 0; i < n; i++) worst = fmax(worst, fabs(cv[i] - abv[i]) / n);
  free(bv);
  free(abv);
  free(cv);
  return isfinite(worst) ? worst : 1e300;
}

// The largest deviation of z from A x, relative to n.
__attribute__((unused)) static double vector_error(int n, const double* a, const double* x, const double* z) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += a[(size_t)j * (size_t)n + (size_t)i] * x[j];
    worst = fmax(worst, fabs(sum - z[i]) / n);
  }
  return isfinite(worst) ? worst : 1e300;
}

#endif
