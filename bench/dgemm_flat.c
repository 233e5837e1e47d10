// Flat parallelism with real work: OpenBLAS's dgemm, which opens one region of as many members as there are
// CPUs. What a nested runtime must not make slower.
#include <omp.h>

#include "blas.h"
#include "common.h"
#include "matrices.h"

typedef struct {
  int n;
  double *a, *b, *c;
} Case;

static void product(void* argument) {
  const Case* s = argument;
  multiply(s->n, s->a, s->b, s->c);
}

static void run(const Options* options, const char* config) {
  Case s = {.n = config_count(config, "n", 1000)};
  s.a = new_matrix(s.n, 1);
  s.b = new_matrix(s.n, 2);
  s.c = new_matrix(s.n, 3);
  const Samples samples = measure(options, 0, product, &s);
  const double error = product_error(s.n, s.a, s.b, s.c);
  print_result("dgemm_flat", config, text("\"n\": %d, \"threads\": %d", s.n, omp_get_max_threads()), &samples, 0,
               error < 1e-12, text("\"error\": %.3g, \"blas\": \"%s\"", error, blas_path()));
  free(s.a);
  free(s.b);
  free(s.c);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=1000"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
