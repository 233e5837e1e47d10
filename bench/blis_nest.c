// A parallel loop over independent matrix products, each of which BLIS itself runs with `inner` threads (the
// nest of the dissertation's section 5.2.1, with BLIS in the place of MKL).
//
//   n=ORDER OF THE MATRICES, outer=PRODUCTS AND OUTER MEMBERS, inner=BLIS_NUM_THREADS
//
// BLIS waits for its own threads by spinning on a flag, not by an OpenMP barrier. Results are checked; that
// the inner level opens, with full teams, is counted (regions_seen.h) outside the measured time.
#include <omp.h>

#include "blas.h"
#include "common.h"
#include "matrices.h"
#include "regions_seen.h"

// BLIS's dim_t is a 64-bit integer where pointers are.
extern void bli_thread_set_num_threads(int64_t threads);

typedef struct {
  int n, outer, inner;
  double **a, **b, **c;
} Case;

static void products(void* argument) {
  const Case* s = argument;
#pragma omp parallel for num_threads(s->outer)
  for (int i = 0; i < s->outer; i++) multiply(s->n, s->a[i], s->b[i], s->c[i]);
}

static void allocate_matrices(Case* s) {
  const size_t bytes = sizeof(double*) * (size_t)s->outer;
  s->a = allocate(bytes);
  s->b = allocate(bytes);
  s->c = allocate(bytes);
  for (int i = 0; i < s->outer; i++) {
    s->a[i] = new_matrix(s->n, 3 * (uint64_t)i);
    s->b[i] = new_matrix(s->n, 3 * (uint64_t)i + 1);
    s->c[i] = new_matrix(s->n, 3 * (uint64_t)i + 2);
  }
}

static void free_matrices(Case* s) {
  for (int i = 0; i < s->outer; i++) {
    free(s->a[i]);
    free(s->b[i]);
    free(s->c[i]);
  }
  free(s->a);
  free(s->b);
  free(s->c);
}

static double worst_error(const Case* s) {
  double worst = 0;
  for (int i = 0; i < s->outer; i++) worst = fmax(worst, product_error(s->n, s->a[i], s->b[i], s->c[i]));
  return worst;
}

static void run(const Options* options, const char* config) {
  Case s = {.n = config_count(config, "n", 256),
            .outer = config_count(config, "outer", 4),
            .inner = config_count(config, "inner", 1)};
  allocate_matrices(&s);
  bli_thread_set_num_threads(s.inner);

  count_regions(true);
  const double start = now_ns();
  products(&s);
  const double first_ns = now_ns() - start;
  count_regions(false);
  const bool opened = inner_level_opened(s.inner);
  const char* regions = seen_checks();
  double error = worst_error(&s);

  const Samples samples = measure(options, first_ns, products, &s);
  error = fmax(error, worst_error(&s));
  print_result("blis_nest", config, text("\"n\": %d, \"outer\": %d, \"inner\": %d", s.n, s.outer, s.inner), &samples, 0,
               opened && error < 1e-12,
               text("%s, \"inner_opened\": %s, \"error\": %.3g, \"blas\": \"%s\"", regions, opened ? "true" : "false",
                    error, blas_path()));
  free_matrices(&s);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=256,outer=4,inner=1", "n=256,outer=4,inner=2", "n=256,outer=4,inner=4",
                                        "n=256,outer=4,inner=8"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
