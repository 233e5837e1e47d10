// Intel's MKL inside a parallel loop, each call with threads of its own: the nests of Figs. 5.3 and 5.4, and dpotrf.
//
//   mkl_nest LIBRARY dgemv|dgemm|dpotrf N OUTER INNER REPEATS
//
// LIBRARY is libmkl_rt.so. Prints sums of the results, and the seconds of one repeat on standard error. Which of MKL's
// threading layers is used is said by MKL_THREADING_LAYER, INTEL or GNU. MKL by itself takes GNU's wherever a libgomp
// is loaded, so it is told by a call; but on a runtime that has no entry points of Intel's it stays with GNU's, since
// two runtimes in one process hang. MKL is also told that the processor is one of Intel's: on others its dgemv has no
// threads.
#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void Dgemm(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                   const int*, const double*, const int*, const double*, double*, const int*);
typedef void Dgemv(const char*, const int*, const int*, const double*, const double*, const int*, const double*,
                   const int*, const double*, double*, const int*);
typedef void Dpotrf(const char*, const int*, double*, const int*, int*);

static int n, outer, inner;
static double **a, **b, **c;
static Dgemm* dgemm;
static Dgemv* dgemv;
static Dpotrf* dpotrf;
static int (*set_threads)(int);
static const char* kind;

static void fail(const char* text) {
  fprintf(stderr, "mkl_nest: %s\n", text);
  exit(2);
}

// Stores the address of the function; ISO C knows no conversion.
static void find(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  if (!symbol) fail(name);
  memcpy(function, &symbol, sizeof symbol);
}

// What MKL calls to learn the maker of the processor; ours stand first in the search order (-rdynamic).
typedef int Question(void);
static int yes(void) { return 1; }
Question* mkl_serv_get_cpu(void);
Question* mkl_serv_get_cpu_true(void);
Question* mkl_serv_get_cpu(void) { return yes; }
Question* mkl_serv_get_cpu_true(void) { return yes; }

static void choose_layer(void* library) {
  const char* layer = getenv("MKL_THREADING_LAYER");
  if (!layer || (strcmp(layer, "INTEL") == 0 && !dlsym(RTLD_DEFAULT, "__kmpc_fork_call"))) return;
  const int wanted = strcmp(layer, "INTEL") == 0 ? 0 : 3;  // as mkl_service.h has them; 3: GNU
  int (*set_layer)(int);
  find(library, "MKL_Set_Threading_Layer", &set_layer);
  if (set_layer(wanted) != wanted) fail("MKL does not take this layer");
}

static double* filled(uint64_t seed) {
  double* m = malloc(sizeof(double) * (size_t)n * (size_t)n);
  if (!m) fail("out of memory");
  uint64_t x = seed * 2654435761u + 88172645463325252u;
  for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    m[k] = (double)(x >> 40) / (double)(1 << 24) - 0.5;
  }
  return m;
}

static void one_call(int i) {
  const double one = 1, zero = 0;
  const int step = 1;
  set_threads(inner);
  if (kind[2] == 'e' && kind[4] == 'v') {
    dgemv("N", &n, &n, &one, a[i], &n, b[i], &step, &zero, c[i], &step);
  } else if (kind[2] == 'e') {
    dgemm("N", "N", &n, &n, &n, &one, a[i], &n, b[i], &n, &zero, c[i], &n);
  } else {
    int info = 0;
    memcpy(c[i], a[i], sizeof(double) * (size_t)n * (size_t)n);
    for (int k = 0; k < n; k++) c[i][(size_t)k * (size_t)n + (size_t)k] += 2.0 * n;
    dpotrf("L", &n, c[i], &n, &info);
    if (info != 0) fail("dpotrf: not positive definite");
  }
}

static double sum_of(int i) {
  const size_t entries = strcmp(kind, "dgemv") == 0 ? (size_t)n : (size_t)n * (size_t)n;
  double sum = 0;
  for (size_t k = 0; k < entries; k++) sum += c[i][k] * cos((double)(k % 97));
  return sum;
}

int main(int argc, char** argv) {
  if (argc != 7) fail("usage: mkl_nest LIBRARY dgemv|dgemm|dpotrf N OUTER INNER REPEATS");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (!library) fail(dlerror());
  find(library, "dgemm_", &dgemm);
  find(library, "dgemv_", &dgemv);
  find(library, "dpotrf_", &dpotrf);
  find(library, "MKL_Set_Num_Threads_Local", &set_threads);
  choose_layer(library);
  kind = argv[2];
  if (strcmp(kind, "dgemv") != 0 && strcmp(kind, "dgemm") != 0 && strcmp(kind, "dpotrf") != 0) fail("unknown routine");
  n = atoi(argv[3]);
  outer = atoi(argv[4]);
  inner = atoi(argv[5]);
  const int repeats = atoi(argv[6]);
  a = calloc((size_t)outer, sizeof *a);
  b = calloc((size_t)outer, sizeof *b);
  c = calloc((size_t)outer, sizeof *c);
  if (!a || !b || !c) fail("out of memory");
  for (int i = 0; i < outer; i++) {
    a[i] = filled(3 * (uint64_t)i);
    b[i] = filled(3 * (uint64_t)i + 1);
    c[i] = filled(3 * (uint64_t)i + 2);
  }
  double start = 0;
  for (int r = 0; r <= repeats; r++) {
    if (r == 1) start = omp_get_wtime();  // the first one warms up
#pragma omp parallel for num_threads(outer) schedule(static, 1)
    for (int i = 0; i < outer; i++) one_call(i);
  }
  fprintf(stderr, "seconds %s %.6f\n", kind, (omp_get_wtime() - start) / repeats);
  for (int i = 0; i < outer; i++) printf("%s_%d %.10g\n", kind, i, sum_of(i));
  return 0;
}
