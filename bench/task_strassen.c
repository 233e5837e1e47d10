// The product of two n x n matrices (n a power of two) by Strassen's algorithm, in Winograd's form: seven products of
// half the size, a task for each.
//
// malloc() keeps the memory that is freed. By itself it returns it to the kernel whenever the end of a heap is free,
// which depends on who has freed what last: 60,000 to 140,000 page faults in 50 products, a fifth of the time, and
// another number of them on each runtime and from run to run.
#include <malloc.h>
#include <math.h>

#include "task_program.h"

enum { MULTIPLY_ALONE = 64 };

typedef struct {
  double* at;
  size_t stride;
} Matrix;

static size_t size;
static Matrix left, right, product;

static Matrix new_square(size_t n) { return (Matrix){allocate(n * n * sizeof(double)), n}; }

static Matrix part(Matrix m, size_t half, int row, int column) {
  return (Matrix){m.at + (size_t)row * half * m.stride + (size_t)column * half, m.stride};
}

// c = a + sign b
static void add(size_t n, Matrix c, Matrix a, double sign, Matrix b) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) c.at[i * c.stride + j] = a.at[i * a.stride + j] + sign * b.at[i * b.stride + j];
}

static void multiply_alone(size_t n, Matrix c, Matrix a, Matrix b) {
  for (size_t i = 0; i < n; i++) {
    double* const row = c.at + i * c.stride;
    for (size_t j = 0; j < n; j++) row[j] = 0;
    for (size_t k = 0; k < n; k++) {
      const double factor = a.at[i * a.stride + k];
      const double* const from = b.at + k * b.stride;
      for (size_t j = 0; j < n; j++) row[j] += factor * from[j];
    }
  }
}

static void multiply(size_t n, Matrix c, Matrix a, Matrix b) {
  if (n <= MULTIPLY_ALONE) {
    multiply_alone(n, c, a, b);
    return;
  }
  const size_t h = n / 2;
  const Matrix a11 = part(a, h, 0, 0), a12 = part(a, h, 0, 1), a21 = part(a, h, 1, 0), a22 = part(a, h, 1, 1);
  const Matrix b11 = part(b, h, 0, 0), b12 = part(b, h, 0, 1), b21 = part(b, h, 1, 0), b22 = part(b, h, 1, 1);
  const Matrix c11 = part(c, h, 0, 0), c12 = part(c, h, 0, 1), c21 = part(c, h, 1, 0), c22 = part(c, h, 1, 1);
  enum { SUMS = 8, PRODUCTS = 7 };
  Matrix s[SUMS], p[PRODUCTS];
  for (int i = 0; i < SUMS; i++) s[i] = new_square(h);
  for (int i = 0; i < PRODUCTS; i++) p[i] = new_square(h);
  add(h, s[0], a21, 1, a22);
  add(h, s[1], s[0], -1, a11);
  add(h, s[2], a11, -1, a21);
  add(h, s[3], a12, -1, s[1]);
  add(h, s[4], b12, -1, b11);
  add(h, s[5], b22, -1, s[4]);
  add(h, s[6], b22, -1, b12);
  add(h, s[7], s[5], -1, b21);
#pragma omp task
  multiply(h, p[0], a11, b11);
#pragma omp task
  multiply(h, p[1], a12, b21);
#pragma omp task
  multiply(h, p[2], s[3], b22);
#pragma omp task
  multiply(h, p[3], a22, s[7]);
#pragma omp task
  multiply(h, p[4], s[0], s[4]);
#pragma omp task
  multiply(h, p[5], s[1], s[5]);
#pragma omp task
  multiply(h, p[6], s[2], s[6]);
#pragma omp taskwait
  add(h, c11, p[0], 1, p[1]);
  add(h, p[5], p[0], 1, p[5]);
  add(h, p[6], p[5], 1, p[6]);
  add(h, c22, p[6], 1, p[4]);
  add(h, c21, p[6], -1, p[3]);
  add(h, p[5], p[5], 1, p[4]);
  add(h, c12, p[5], 1, p[2]);
  for (int i = 0; i < SUMS; i++) free(s[i].at);
  for (int i = 0; i < PRODUCTS; i++) free(p[i].at);
}

static void fill(Matrix m, uint64_t seed) {
  for (size_t k = 0; k < size * size; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    m.at[k] = (double)(seed >> 40) / (double)(1 << 24) - 0.5;
  }
}

static void prepare(int n) {
  if ((n & (n - 1)) != 0) fail("n: a power of two");
  size = (size_t)n;
  left = new_square(size);
  right = new_square(size);
  product = new_square(size);
  fill(left, 1);
  fill(right, 2);
}

static void solve(void) { multiply(size, product, left, right); }

static bool is_right(void) {
  const Matrix expected = new_square(size);
  multiply_alone(size, expected, left, right);
  double worst = 0;
  for (size_t k = 0; k < size * size; k++) worst = fmax(worst, fabs(product.at[k] - expected.at[k]));
  free(expected.at);
  return worst < 1e-9;
}

int main(int argc, char** argv) {
  enum { KEEP = 1 << 30, MOST_BELOW_HEAPS = 32 << 20 };
  mallopt(M_TRIM_THRESHOLD, KEEP);
  mallopt(M_MMAP_THRESHOLD, MOST_BELOW_HEAPS);
  const TaskProgram program = {"task_strassen", 512, prepare, solve, is_right};
  return run_task_program(argc, argv, &program);
}
