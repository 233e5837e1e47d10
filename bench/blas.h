// The BLAS that a program is linked with, by the Fortran interface: every BLAS has it, and no header is needed.
#ifndef WEFT_BENCH_BLAS_H
#define WEFT_BENCH_BLAS_H

#include "common.h"

extern void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                   const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                   const double* beta, double* c, const int* ldc);

static void multiply(int n, const double* a, const double* b, double* c) {
  const double one = 1, zero = 0;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
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
