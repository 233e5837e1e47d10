// Matrices with reproducible entries, and a check of C = A B that needs no second BLAS.
#ifndef WEFT_BENCH_MATRICES_H
#define WEFT_BENCH_MATRICES_H

#include <math.h>

#include "common.h"

// The BLAS's own Fortran interface: every BLAS has it, and no header is needed.
extern void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                   const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                   const double* beta, double* c, const int* ldc);

static void multiply(int n, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
}

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

// The file that dgemm_ comes from: which BLAS is really in use.
static const char* blas_path(void) {
  static char path[PATH_MAX];
  Dl_info info;
  void* symbol = dlsym(RTLD_DEFAULT, "dgemm_");
  if (!symbol || !dladdr(symbol, &info) || !realpath(info.dli_fname, path)) strcpy(path, "unknown");
  return path;
}

#endif
