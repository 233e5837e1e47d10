// Matrix products (and, where the library has LAPACK, factorisations) through the BLAS that this program is
// linked with, flat and inside a parallel region. Usage: blas_nest flat|nested|factor SIZE OUTER
//
// Prints sums over each result and checks each against a plain loop, or against the matrix it was made from.
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
#ifdef HAVE_LAPACK
void dpotrf_(const char*, const int*, double*, const int*, int*);
#endif

static double* matrix(int size, int seed) {
  double* const values = malloc(sizeof(double) * (size_t)size * (size_t)size);
  if (!values) {
    abort();
  }
  for (int i = 0; i < size * size; i++) {
    values[i] = sin(0.013 * i + seed) + (i % (7 + seed)) * 0.1;
  }
  return values;
}

static void multiply(int size, const double* a, const double* b, double* c) {
  const double one = 1;
  const double zero = 0;
  dgemm_("N", "T", &size, &size, &size, &one, a, &size, b, &size, &zero, c, &size);
}

// A sample of the elements of the product, computed plainly.
static int differs(int size, const double* a, const double* b, const double* c) {
  for (int sample = 0; sample < 200; sample++) {
    const int i = (sample * 37) % size;
    const int j = (sample * 101 + 5) % size;
    double sum = 0;
    for (int k = 0; k < size; k++) {
      sum += a[i + k * size] * b[j + k * size];
    }
    if (!(fabs(sum - c[i + j * size]) <= 1e-10 * size * (1 + fabs(sum)))) {
      fprintf(stderr, "element %d,%d is %.17g, must be %.17g\n", i, j, c[i + j * size], sum);
      return 1;
    }
  }
  return 0;
}

static void print_sum(const char* what, int number, int size, const double* values) {
  double sum = 0;
  for (int i = 0; i < size * size; i++) {
    sum += values[i] * (1 + i % 11);
  }
  printf("%s_%d %.12g\n", what, number, sum);
}

static int flat(int size) {
  int failures = 0;
  for (int i = 0; i < 3; i++) {
    double* const a = matrix(size, i);
    double* const b = matrix(size, i + 3);
    double* const c = matrix(size, 0);
    multiply(size, a, b, c);
    failures += differs(size, a, b, c);
    print_sum("product", i, size, c);
    free(a);
    free(b);
    free(c);
  }
  return failures;
}

static int nested(int size, int outer) {
  enum { products = 6 };
  double* a[products];
  double* b[products];
  double* c[products];
  int failures = 0;
  for (int i = 0; i < products; i++) {
    a[i] = matrix(size, i);
    b[i] = matrix(size, i + 3);
    c[i] = matrix(size, 0);
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(outer)
  for (int i = 0; i < products; i++) {
    multiply(size, a[i], b[i], c[i]);
  }
  for (int i = 0; i < products; i++) {
    failures += differs(size, a[i], b[i], c[i]);
    print_sum("product", i, size, c[i]);
    free(a[i]);
    free(b[i]);
    free(c[i]);
  }
  return failures;
}

#ifdef HAVE_LAPACK
// Cholesky factors of a matrix that is positive definite by a heavy diagonal, and their product back.
static int factor_one(int size, int number) {
  double* const a = matrix(size, number);
  double* const original = matrix(size, number);
  for (int i = 0; i < size; i++) {
    for (int j = 0; j < i; j++) {
      original[i + j * size] = original[j + i * size] = a[i + j * size];
    }
    original[i + i * size] = 4.0 * size + a[i + i * size];
  }
  memcpy(a, original, sizeof(double) * (size_t)size * (size_t)size);
  int info = -1;
  dpotrf_("L", &size, a, &size, &info);
  if (info != 0) {
    fprintf(stderr, "dpotrf: info %d\n", info);
    return 1;
  }
  for (int i = 0; i < size; i++) {
    for (int j = i + 1; j < size; j++) {
      a[i + j * size] = 0;
    }
  }
  double* const product = matrix(size, 0);
  multiply(size, a, a, product);
  int failures = 0;
  for (int i = 0; i < size * size && !failures; i++) {
    failures = !(fabs(product[i] - original[i]) < 1e-9 * size);
  }
  if (failures) {
    fprintf(stderr, "factors of matrix %d do not give it back\n", number);
  }
#pragma omp critical
  print_sum("factor", number, size, a);
  free(a);
  free(original);
  free(product);
  return failures;
}

static int factor(int size, int outer) {
  int failures = 0;
  for (int i = 0; i < 4; i++) {
    failures += factor_one(size, i);
  }
#pragma omp parallel for schedule(static, 1) num_threads(outer) reduction(+ : failures)
  for (int i = 4; i < 12; i++) {
    failures += factor_one(size, i);
  }
  return failures;
}
#endif

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "flat";
  const int size = count > 2 ? atoi(arguments[2]) : 200;
  const int outer = count > 3 ? atoi(arguments[3]) : 4;
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  if (strcmp(what, "flat") == 0) {
    return flat(size) != 0;
  }
  if (strcmp(what, "nested") == 0) {
    return nested(size, outer) != 0;
  }
#ifdef HAVE_LAPACK
  if (strcmp(what, "factor") == 0) {
    return factor(size, outer) != 0;
  }
#endif
  fprintf(stderr, "usage: blas_nest flat|nested|factor SIZE OUTER\n");
  return 2;
}
