// FFTW with its OpenMP threads inside a parallel loop: each member of the outer team executes transforms
// whose plans use `inner` threads, so that FFTW opens regions inside the region. Usage: fftw_nest OUTER INNER
//
// Prints sums over each result, and checks each against the same transform with a plan for one thread.
#include <fftw3.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { transforms = 8, rows = 96, columns = 80, planes = 24 };

struct Shape {
  const char* name;
  int rank;
  int sizes[3];
};

static size_t elements(const struct Shape* shape) {
  size_t count = 1;
  for (int i = 0; i < shape->rank; i++) {
    count *= (size_t)shape->sizes[i];
  }
  return count;
}

static void fill(fftw_complex* values, size_t count, int seed) {
  for (size_t i = 0; i < count; i++) {
    values[i][0] = sin(0.37 * (double)i + seed);
    values[i][1] = cos(0.11 * (double)i * (seed + 1));
  }
}

static fftw_plan make_plan(const struct Shape* shape, int threads, fftw_complex* in, fftw_complex* out, int sign) {
  fftw_plan_with_nthreads(threads);
  return fftw_plan_dft(shape->rank, shape->sizes, in, out, sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
}

static double largest_difference(fftw_complex* a, fftw_complex* b, size_t count) {
  double largest = 0;
  for (size_t i = 0; i < count; i++) {
    largest = fmax(largest, fmax(fabs(a[i][0] - b[i][0]), fabs(a[i][1] - b[i][1])));
  }
  return largest;
}

static int run(const struct Shape* shape, int outer, int inner) {
  const size_t count = elements(shape);
  fftw_complex* in[transforms];
  fftw_complex* out[transforms];
  fftw_complex* back[transforms];
  for (int t = 0; t < transforms; t++) {
    in[t] = fftw_alloc_complex(count);
    out[t] = fftw_alloc_complex(count);
    back[t] = fftw_alloc_complex(count);
    fill(in[t], count, t);
  }
  const fftw_plan forward = make_plan(shape, inner, in[0], out[0], FFTW_FORWARD);
  const fftw_plan backward = make_plan(shape, inner, out[0], back[0], FFTW_BACKWARD);
  const fftw_plan serial = make_plan(shape, 1, in[0], out[0], FFTW_FORWARD);
  int repetitions = 3;
  while (repetitions-- > 0) {
#pragma omp parallel num_threads(outer)
    {
      omp_set_num_threads(inner);  // the size of the teams that FFTW opens
#pragma omp for schedule(dynamic, 1)
      for (int t = 0; t < transforms; t++) {
        fftw_execute_dft(forward, in[t], out[t]);
        fftw_execute_dft(backward, out[t], back[t]);
      }
    }
  }
  int failures = 0;
  fftw_complex* expected = fftw_alloc_complex(count);
  for (int t = 0; t < transforms; t++) {
    fftw_execute_dft(serial, in[t], expected);
    const double forward_error = largest_difference(out[t], expected, count);
    for (size_t i = 0; i < count; i++) {
      back[t][i][0] /= (double)count;
      back[t][i][1] /= (double)count;
    }
    const double backward_error = largest_difference(back[t], in[t], count);
    if (!(forward_error < 1e-10) || !(backward_error < 1e-10)) {
      fprintf(stderr, "%s, transform %d: differs by %g from one thread's, and by %g after the way back\n", shape->name,
              t, forward_error, backward_error);
      failures++;
    }
    double real = 0;
    double imaginary = 0;
    for (size_t i = 0; i < count; i++) {
      real += out[t][i][0] * (double)(i % 17);
      imaginary += out[t][i][1] * (double)(i % 13);
    }
    printf("%s_%d_real %.12g\n%s_%d_imaginary %.12g\n", shape->name, t, real, shape->name, t, imaginary);
    fftw_free(in[t]);
    fftw_free(out[t]);
    fftw_free(back[t]);
  }
  fftw_free(expected);
  fftw_destroy_plan(forward);
  fftw_destroy_plan(backward);
  fftw_destroy_plan(serial);
  return failures;
}

int main(int count, char** arguments) {
  const int outer = count > 1 ? atoi(arguments[1]) : 4;
  const int inner = count > 2 ? atoi(arguments[2]) : 4;
  if (!fftw_init_threads()) {
    fprintf(stderr, "fftw_init_threads failed\n");
    return 1;
  }
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  const struct Shape plane = {"plane", 2, {rows, columns, 0}};
  const struct Shape cube = {"cube", 3, {planes, planes, planes}};
  const int failures = run(&plane, outer, inner) + run(&cube, outer, inner);
  fftw_cleanup_threads();
  return failures != 0;
}
