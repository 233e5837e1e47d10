// Fig. 5.5, the kernel of Qbox's FFT phase: a parallel loop over independent transforms, each of which FFTW
// itself runs with `inner` threads.
//
//   dim=2|3, n=POINTS PER DIMENSION, outer=TRANSFORMS AND OUTER MEMBERS, inner=THREADS PER TRANSFORM
//
// FFTW plans for inner threads but opens its regions without num_threads, so the number comes from the
// nthreads control variable, which each outer member sets for itself (as OMP_NUM_THREADS=outer,inner would).
// The plan is made without measuring: it is the same one on every runtime. Results are compared with those of
// a serial plan; that the inner level opens, with full teams, is counted (regions_seen.h) outside the
// measured time.
#include <fftw3.h>
#include <math.h>
#include <omp.h>

#include "common.h"
#include "regions_seen.h"

typedef struct {
  int dim, n, outer, inner;
  size_t points;
  fftw_plan plan;
  fftw_complex** in;
  fftw_complex** out;
} Case;

static void transforms(void* argument) {
  const Case* c = argument;
#pragma omp parallel for num_threads(c->outer)
  for (int i = 0; i < c->outer; i++) {
    omp_set_num_threads(c->inner);
    fftw_execute_dft(c->plan, c->in[i], c->out[i]);
  }
}

static fftw_plan make_plan(const Case* c, int threads) {
  const int extent[3] = {c->n, c->n, c->n};
  fftw_plan_with_nthreads(threads);
  fftw_plan plan = fftw_plan_dft(c->dim, extent, c->in[0], c->out[0], FFTW_FORWARD, FFTW_ESTIMATE);
  if (!plan) fail("FFTW makes no plan for dim=%d, n=%d", c->dim, c->n);
  return plan;
}

static void allocate_arrays(Case* c) {
  c->points = 1;
  for (int d = 0; d < c->dim; d++) c->points *= (size_t)c->n;
  c->in = allocate(sizeof(fftw_complex*) * (size_t)c->outer);
  c->out = allocate(sizeof(fftw_complex*) * (size_t)c->outer);
  uint64_t x = 88172645463325252u;
  for (int i = 0; i < c->outer; i++) {
    c->in[i] = fftw_alloc_complex(c->points);
    c->out[i] = fftw_alloc_complex(c->points);
    double* values = (double*)c->in[i];
    for (size_t k = 0; k < 2 * c->points; k++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      values[k] = (double)(x >> 40) / (double)(1 << 24) - 0.5;
    }
  }
}

static void free_arrays(Case* c) {
  for (int i = 0; i < c->outer; i++) {
    fftw_free(c->in[i]);
    fftw_free(c->out[i]);
  }
  free(c->in);
  free(c->out);
}

static void clear_results(const Case* c) {
  for (int i = 0; i < c->outer; i++) memset(c->out[i], 0, sizeof(fftw_complex) * c->points);
}

// The largest deviation from a serial transform, relative to the largest value.
static double error_against_serial(const Case* c) {
  fftw_plan serial = make_plan(c, 1);
  fftw_complex* expected = fftw_alloc_complex(c->points);
  double worst = 0;
  for (int i = 0; i < c->outer; i++) {
    fftw_execute_dft(serial, c->in[i], expected);
    double largest = 0, deviation = 0;
    for (size_t k = 0; k < c->points; k++) {
      const double re = c->out[i][k][0] - expected[k][0], im = c->out[i][k][1] - expected[k][1];
      deviation = fmax(deviation, hypot(re, im));
      largest = fmax(largest, hypot(expected[k][0], expected[k][1]));
    }
    worst = fmax(worst, deviation / largest);
  }
  fftw_free(expected);
  fftw_destroy_plan(serial);
  return worst;
}

static void run(const Options* options, const char* config) {
  Case c = {.dim = config_int(config, "dim", 2),
            .n = config_count(config, "n", 64),
            .outer = config_count(config, "outer", 8),
            .inner = config_count(config, "inner", 1)};
  if (c.dim < 1 || c.dim > 3) fail("dim is 1, 2 or 3, not %d", c.dim);
  allocate_arrays(&c);
  c.plan = make_plan(&c, c.inner);

  clear_results(&c);
  count_regions(true);
  const double start = now_ns();
  transforms(&c);
  const double first_ns = now_ns() - start;
  count_regions(false);
  const bool opened = inner_level_opened(c.inner);
  const char* regions = seen_checks();
  double error = error_against_serial(&c);

  clear_results(&c);
  const Samples samples = measure(options, first_ns, transforms, &c);
  error = fmax(error, error_against_serial(&c));
  print_result("fft_nest", config,
               text("\"dim\": %d, \"n\": %d, \"outer\": %d, \"inner\": %d", c.dim, c.n, c.outer, c.inner), &samples, 0,
               opened && error < 1e-12,
               text("%s, \"inner_opened\": %s, \"error\": %.3g", regions, opened ? "true" : "false", error));
  fftw_destroy_plan(c.plan);
  free_arrays(&c);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {
      "dim=2,n=64,outer=8,inner=1",  "dim=2,n=64,outer=8,inner=2",  "dim=2,n=64,outer=8,inner=4",
      "dim=2,n=64,outer=8,inner=8",  "dim=2,n=64,outer=56,inner=1", "dim=2,n=64,outer=56,inner=2",
      "dim=2,n=64,outer=56,inner=4", "dim=2,n=64,outer=56,inner=8", "dim=3,n=32,outer=4,inner=1",
      "dim=3,n=32,outer=4,inner=2",  "dim=3,n=32,outer=4,inner=4",  "dim=3,n=32,outer=4,inner=8"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  if (!fftw_init_threads()) fail("FFTW cannot start its threads");
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
