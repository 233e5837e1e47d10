// The Cholesky decomposition of a tiled matrix by tasks with dependences, each of which calls a BLAS that is parallel
// itself and whose members wait for each other by spinning on a flag, without a pause or a yield, as Intel MKL's do
// (S. Shiina et al., PPoPP 2021, section 4.1, Fig. 7).
//
//   n=ORDER, tile=ORDER OF A TILE, outer=MEMBERS THAT RUN TASKS, inner=MEMBERS OF A BLAS CALL
//
// inner=1 is the flat version. With more members than CPUs every spinning barrier needs that somebody is preempted: a
// runtime on user-level threads without preemption hangs. The result is checked against the matrix.
#include <math.h>
#include <omp.h>
#include <stdatomic.h>

#include "common.h"

enum { PANEL = 64, BLOCK = 16 };

// ---------------------------------------------------------------- a small BLAS with a barrier of its own

typedef struct {
  _Alignas(64) atomic_int arrived;
  _Alignas(64) atomic_int turn;
} Spin;

static void spin(Spin* barrier, int members) {
  const int turn = atomic_load_explicit(&barrier->turn, memory_order_relaxed);
  if (atomic_fetch_add(&barrier->arrived, 1) == members - 1) {
    atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&barrier->turn, turn + 1, memory_order_release);
  } else {
    while (atomic_load_explicit(&barrier->turn, memory_order_acquire) == turn) {
    }
  }
}

typedef struct {
  int member, members;
  Spin* barrier;
} Member;

static void wait_for_all(const Member* self) {
  if (self->members > 1) spin(self->barrier, self->members);
}

// This member's part of [first, last).
static int begin_of(const Member* self, int first, int last) {
  return first + (last - first) * self->member / self->members;
}
static int end_of(const Member* self, int first, int last) {
  return first + (last - first) * (self->member + 1) / self->members;
}

static atomic_int most_members;

static Member enter(Spin* barrier) {
  const Member self = {omp_get_thread_num(), omp_get_num_threads(), barrier};
  int most = atomic_load_explicit(&most_members, memory_order_relaxed);
  while (most < self.members && !atomic_compare_exchange_weak(&most_members, &most, self.members)) {
  }
  return self;
}

// to[j][i] = from[i][first + j], for `count` columns; each member does some rows.
static void transpose_part(const Member* self, int size, const double* from, int first, int count, double* to) {
  for (int i = begin_of(self, 0, size); i < end_of(self, 0, size); i++)
    for (int j = 0; j < count; j++)
      to[(size_t)j * (size_t)size + (size_t)i] = from[(size_t)i * (size_t)size + (size_t)(first + j)];
}

// c -= a b^T; of a symmetric result the lower half only.
static void multiply(int size, int inner, const double* a, const double* b, double* c, bool symmetric) {
  double* shared = allocate(sizeof(double) * (size_t)size * PANEL);
  Spin barrier = {0};
#pragma omp parallel num_threads(inner)
  {
    const Member self = enter(&barrier);
    for (int panel = 0; panel < size; panel += PANEL) {
      const int depth = size - panel < PANEL ? size - panel : PANEL;
      transpose_part(&self, size, b, panel, depth, shared);
      wait_for_all(&self);
      for (int i = begin_of(&self, 0, size); i < end_of(&self, 0, size); i++) {
        double* restrict row = c + (size_t)i * (size_t)size;
        const int columns = symmetric ? i + 1 : size;
        for (int k = 0; k < depth; k++) {
          const double factor = a[(size_t)i * (size_t)size + (size_t)(panel + k)];
          const double* restrict other = shared + (size_t)k * (size_t)size;
          for (int j = 0; j < columns; j++) row[j] -= factor * other[j];
        }
      }
      wait_for_all(&self);
    }
  }
  free(shared);
}

// b = b l^-T for a lower triangle l.
static void solve(int size, int inner, const double* l, double* b) {
  double* shared = allocate(sizeof(double) * (size_t)size * (size_t)size);
  Spin barrier = {0};
#pragma omp parallel num_threads(inner)
  {
    const Member self = enter(&barrier);
    transpose_part(&self, size, l, 0, size, shared);
    wait_for_all(&self);
    for (int i = begin_of(&self, 0, size); i < end_of(&self, 0, size); i++) {
      double* restrict row = b + (size_t)i * (size_t)size;
      for (int k = 0; k < size; k++) {
        const double* restrict column = shared + (size_t)k * (size_t)size;
        const double value = row[k] /= column[k];
        for (int j = k + 1; j < size; j++) row[j] -= value * column[j];
      }
    }
    wait_for_all(&self);
  }
  free(shared);
}

// a = l, the lower triangle with l l^T = a; by blocks of columns.
static void decompose(int size, int inner, double* a) {
  Spin barrier = {0};
#pragma omp parallel num_threads(inner)
  {
    const Member self = enter(&barrier);
    for (int first = 0; first < size; first += BLOCK) {
      const int last = first + BLOCK < size ? first + BLOCK : size;
      if (self.member == 0) {
        for (int k = first; k < last; k++) {
          double* pivot = a + (size_t)k * (size_t)size;
          pivot[k] = sqrt(pivot[k]);
          for (int i = k + 1; i < last; i++) {
            double* row = a + (size_t)i * (size_t)size;
            row[k] /= pivot[k];
            for (int j = k + 1; j <= i; j++) row[j] -= row[k] * a[(size_t)j * (size_t)size + (size_t)k];
          }
        }
      }
      wait_for_all(&self);
      for (int i = begin_of(&self, last, size); i < end_of(&self, last, size); i++) {
        double* row = a + (size_t)i * (size_t)size;
        for (int k = first; k < last; k++) {
          const double* of_k = a + (size_t)k * (size_t)size;
          for (int j = first; j < k; j++) row[k] -= row[j] * of_k[j];
          row[k] /= of_k[k];
        }
      }
      wait_for_all(&self);
      for (int i = begin_of(&self, last, size); i < end_of(&self, last, size); i++) {
        double* row = a + (size_t)i * (size_t)size;
        for (int j = last; j <= i; j++) {
          const double* of_j = a + (size_t)j * (size_t)size;
          for (int k = first; k < last; k++) row[j] -= row[k] * of_j[k];
        }
      }
      wait_for_all(&self);
    }
  }
}

// ---------------------------------------------------------------- the tiles

typedef struct {
  int n, tile, tiles, outer, inner;
  double* matrix;   // n x n
  double** result;  // tiles x tiles, lower ones only
} Case;

static double* tile_of(const Case* s, int i, int j) { return s->result[i * s->tiles + j]; }

static void copy_into_tiles(const Case* s) {
  for (int i = 0; i < s->tiles; i++)
    for (int j = 0; j <= i; j++)
      for (int row = 0; row < s->tile; row++)
        memcpy(tile_of(s, i, j) + (size_t)row * (size_t)s->tile,
               s->matrix + (size_t)(i * s->tile + row) * (size_t)s->n + (size_t)(j * s->tile),
               sizeof(double) * (size_t)s->tile);
}

static void create_tasks(const Case* s) {
  const int size = s->tile, inner = s->inner;
  for (int k = 0; k < s->tiles; k++) {
    double* diagonal = tile_of(s, k, k);
#pragma omp task depend(inout : diagonal[0]) firstprivate(diagonal)
    decompose(size, inner, diagonal);
    for (int i = k + 1; i < s->tiles; i++) {
      double* below = tile_of(s, i, k);
#pragma omp task depend(in : diagonal[0]) depend(inout : below[0]) firstprivate(diagonal, below)
      solve(size, inner, diagonal, below);
    }
    for (int i = k + 1; i < s->tiles; i++) {
      double *left = tile_of(s, i, k), *target = tile_of(s, i, i);
#pragma omp task depend(in : left[0]) depend(inout : target[0]) firstprivate(left, target)
      multiply(size, inner, left, left, target, true);
      for (int j = k + 1; j < i; j++) {
        double *right = tile_of(s, j, k), *other = tile_of(s, i, j);
#pragma omp task depend(in : left[0], right[0]) depend(inout : other[0]) firstprivate(left, right, other)
        multiply(size, inner, left, right, other, false);
      }
    }
  }
}

static void decompose_all(void* argument) {
  const Case* s = argument;
  copy_into_tiles(s);
#pragma omp parallel num_threads(s->outer)
#pragma omp single
  create_tasks(s);
}

static double element(const Case* s, int i, int j) {
  if (j > i) return 0;
  return tile_of(s, i / s->tile, j / s->tile)[(i % s->tile) * s->tile + j % s->tile];
}

// How far L (L^T x) is from A x for some x, beside the largest number in A x.
static double error_of(const Case* s) {
  double *x = allocate(sizeof(double) * (size_t)s->n), *y = allocate(sizeof(double) * (size_t)s->n);
  double worst = 0, largest = 0;
  for (int i = 0; i < s->n; i++) x[i] = 1.0 + (double)(i * 7 % 13) / 13, y[i] = 0;
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j <= i; j++) y[j] += element(s, i, j) * x[i];
  for (int i = 0; i < s->n; i++) {
    double expected = 0, found = 0;
    for (int j = 0; j < s->n; j++) expected += s->matrix[(size_t)i * (size_t)s->n + (size_t)j] * x[j];
    for (int j = 0; j <= i; j++) found += element(s, i, j) * y[j];
    worst = fmax(worst, fabs(expected - found));
    largest = fmax(largest, fabs(expected));
  }
  free(x);
  free(y);
  return worst / largest;
}

static void prepare(Case* s) {
  if (s->tile < 1 || s->n % s->tile != 0) fail("n must be a multiple of tile");
  s->tiles = s->n / s->tile;
  s->matrix = allocate(sizeof(double) * (size_t)s->n * (size_t)s->n);
  for (int i = 0; i < s->n; i++)
    for (int j = 0; j < s->n; j++)
      s->matrix[(size_t)i * (size_t)s->n + (size_t)j] =
          (i == j ? s->n : 0) + 1.0 / (1 + abs(i - j)) + (double)((i + j) % 5) / 10;
  s->result = allocate(sizeof(double*) * (size_t)(s->tiles * s->tiles));
  for (int i = 0; i < s->tiles * s->tiles; i++) s->result[i] = allocate(sizeof(double) * (size_t)(s->tile * s->tile));
}

static void run(const Options* options, const char* config) {
  Case s = {.n = config_count(config, "n", 512),
            .tile = config_count(config, "tile", 128),
            .outer = config_count(config, "outer", 2),
            .inner = config_count(config, "inner", 1)};
  prepare(&s);
  atomic_store(&most_members, 0);
  const double start = now_ns();
  decompose_all(&s);
  const double first_ns = now_ns() - start;
  double error = error_of(&s);
  const Samples samples = measure(options, first_ns, decompose_all, &s);
  error = fmax(error, error_of(&s));
  const bool opened = atomic_load(&most_members) == s.inner;
  print_result("cholesky", config,
               text("\"n\": %d, \"tile\": %d, \"outer\": %d, \"inner\": %d", s.n, s.tile, s.outer, s.inner), &samples,
               0, opened && error < 1e-11,
               text("\"inner_opened\": %s, \"error\": %.3g", opened ? "true" : "false", error));
  for (int i = 0; i < s.tiles * s.tiles; i++) free(s.result[i]);
  free(s.result);
  free(s.matrix);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=512,tile=128,outer=2,inner=1", "n=512,tile=128,outer=4,inner=4"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
