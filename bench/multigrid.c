// A multigrid solver whose threads are packed onto fewer CPUs than there are threads (S. Shiina et al., PPoPP 2021,
// section 4.2, Fig. 8): V-cycles for a diffusion equation with a variable coefficient on a square, each thread with its
// rows of every grid, and a barrier after every sweep.
//
//   multigrid KIND THREADS ACTIVE CYCLES LEVEL   2^LEVEL - 1 points in a row; one JSON object on stdout
//
// KIND: weft-none, weft-signal-yield, weft-klt-switch: units of a packing (weft_packing_create) with THREADS workers,
// of which ACTIVE are left before the cycles begin; WEFT_PREEMPT_INTERVAL says how long a slice is. openmp: threads of
// an OpenMP runtime, which are moved to the first ACTIVE CPUs. openmp-packed: threads of weft's, of whose workers
// ACTIVE are left, as by `weft ctl`.
//
// "ns" is the time of the cycles. Where there are fewer CPUs than active workers that says little; so the time that
// each worker has worked is counted, if MULTIGRID_COUNT is set, in "simulated_ns": between two barriers, the CPU time
// of the worker that has worked most. "work_ns" is the CPU time of all together, in the same pieces: a perfect balance
// takes work_ns / ACTIVE.
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/weft.h>

#include "common.h"

enum { nowhere = -1 };
enum { MOST_GRIDS = 12, COARSEST = 4, MOST_THREADS = 64, SMOOTHINGS = 2, COARSE_SMOOTHINGS = 20 };

typedef struct {
  int size;  // points in a row, the boundary's not counted
  double *u, *f, *other;
} Grid;

typedef void Sweep(const Grid* grid, int row);

static Grid grids[MOST_GRIDS];
static int grid_count, threads, active, cycles;

static size_t at(const Grid* grid, int row, int column) {
  return (size_t)row * (size_t)(grid->size + 2) + (size_t)column;
}

// ---------------------------------------------------------------- who works, and for how long

static void (*wait_for_all)(void);
static int (*worker_here)(void);
static bool counts_work;
static _Atomic int64_t worked[MOST_THREADS];  // since the last barrier, by worker
static double simulated_ns, work_ns;
static _Atomic int last_worker[MOST_THREADS];  // of each thread; nowhere before it has worked
static atomic_bool is_through[MOST_THREADS];   // a thread: at the barrier

static int64_t cpu_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// By the last who comes to a barrier, while the others wait.
static void settle_work(void) {
  int64_t most = 0, sum = 0;
  for (int worker = 0; worker < MOST_THREADS; worker++) {
    const int64_t time = atomic_exchange_explicit(&worked[worker], 0, memory_order_relaxed);
    most = time > most ? time : most;
    sum += time;
  }
  simulated_ns += (double)most;
  work_ns += (double)sum;
  for (int thread = 0; thread < threads; thread++) atomic_store(&is_through[thread], false);
}

// The workers are as many as one may want, the CPUs are not: so that all advance alike nevertheless, one that has
// worked for longer than another that has something to do waits for it.
static void keep_pace(int self) {
  const int64_t tolerance_ns = 100000;
  for (bool ahead = true; ahead;) {
    const int worker = worker_here();  // another, perhaps
    const int64_t mine = atomic_load(&worked[worker]);
    atomic_store(&last_worker[self], worker);
    ahead = false;
    for (int thread = 0; thread < threads; thread++) {
      const int other = atomic_load(&last_worker[thread]);
      if (other != nowhere && !atomic_load(&is_through[thread]) && atomic_load(&worked[other]) + tolerance_ns < mine)
        ahead = true;
    }
    if (ahead) sched_yield();
  }
}

// A row is one worker's.
static void count_row(int self, const Grid* grid, int row, Sweep* rows) {
  weft_preempt_disable();
  const int worker = worker_here();
  const int64_t before = cpu_time();
  rows(grid, row);
  atomic_fetch_add(&worked[worker], cpu_time() - before);
  weft_preempt_enable();
  keep_pace(self);
}

// ---------------------------------------------------------------- the solver

// The coefficient in the middle between two points; as if it were dear to find.
static double between(const Grid* grid, double row, double column) {
  return 1.5 + sin((6 * row + 5 * column) / (grid->size + 1.0));
}

typedef struct {
  double applied;  // (A u) h^2, where A u = -div(k grad u)
  double diagonal;
} Stencil;

static Stencil stencil(const Grid* grid, int row, int column) {
  const double* u = grid->u + at(grid, row, column);
  const int line = grid->size + 2;
  const double above = between(grid, row - 0.5, column), below = between(grid, row + 0.5, column),
               left = between(grid, row, column - 0.5), right = between(grid, row, column + 0.5);
  const double diagonal = above + below + left + right;
  const double others = above * u[-line] + below * u[line] + left * u[-1] + right * u[1];
  return (Stencil){diagonal * u[0] - others, diagonal};
}

static double square_of_step(const Grid* grid) { return 1.0 / ((grid->size + 1.0) * (grid->size + 1.0)); }

// Jacobi's iteration, damped.
static void smooth(const Grid* grid, int row) {
  const double h2 = square_of_step(grid);
  for (int c = 1; c <= grid->size; c++) {
    const Stencil here = stencil(grid, row, c);
    grid->other[at(grid, row, c)] =
        grid->u[at(grid, row, c)] + 0.8 * (h2 * grid->f[at(grid, row, c)] - here.applied) / here.diagonal;
  }
}

static double residual_at(const Grid* grid, int row, int column) {
  return grid->f[at(grid, row, column)] - stencil(grid, row, column).applied / square_of_step(grid);
}

static void find_residual(const Grid* grid, int row) {
  for (int c = 1; c <= grid->size; c++) grid->other[at(grid, row, c)] = residual_at(grid, row, c);
}

// Full weighting, of what find_residual() has left in the finer grid.
static void restrict_residual(const Grid* grid, int row) {
  const Grid* fine = grid - 1;
  const double* r = fine->other;
  for (int c = 1; c <= grid->size; c++) {
    const int i = 2 * row, j = 2 * c;
    grid->f[at(grid, row, c)] =
        (4 * r[at(fine, i, j)] +
         2 * (r[at(fine, i - 1, j)] + r[at(fine, i + 1, j)] + r[at(fine, i, j - 1)] + r[at(fine, i, j + 1)]) +
         r[at(fine, i - 1, j - 1)] + r[at(fine, i - 1, j + 1)] + r[at(fine, i + 1, j - 1)] +
         r[at(fine, i + 1, j + 1)]) /
        16;
    grid->u[at(grid, row, c)] = 0;
  }
}

// Bilinear, onto the finer grid.
static void correct(const Grid* grid, int row) {
  const Grid* coarse = grid + 1;
  const double* e = coarse->u;
  for (int c = 1; c <= grid->size; c++) {
    const int i = row / 2, j = c / 2, down = row % 2, right = c % 2;
    grid->u[at(grid, row, c)] += (e[at(coarse, i, j)] + e[at(coarse, i + down, j)] + e[at(coarse, i, j + right)] +
                                  e[at(coarse, i + down, j + right)]) /
                                 4;
  }
}

// This thread's rows, some at a time, and then the barrier.
static void sweep(int self, Grid* grid, Sweep* rows) {
  const int first = 1 + grid->size * self / threads, last = 1 + grid->size * (self + 1) / threads;
  for (int row = first; row < last; row++) {
    if (counts_work)
      count_row(self, grid, row, rows);
    else
      rows(grid, row);
  }
  if (counts_work) atomic_store(&is_through[self], true);
  wait_for_all();
}

static void swap_after_smoothing(int self, Grid* grid) {
  if (self == 0) {
    double* kept = grid->u;
    grid->u = grid->other;
    grid->other = kept;
  }
  wait_for_all();
}

static void smooth_often(int self, Grid* grid, int times) {
  for (int i = 0; i < times; i++) {
    sweep(self, grid, smooth);
    swap_after_smoothing(self, grid);
  }
}

static void cycle(int self, int level) {
  Grid* grid = &grids[level];
  if (level == grid_count - 1) {
    smooth_often(self, grid, COARSE_SMOOTHINGS);
    return;
  }
  smooth_often(self, grid, SMOOTHINGS);
  sweep(self, grid, find_residual);
  sweep(self, grid + 1, restrict_residual);
  cycle(self, level + 1);
  sweep(self, grid, correct);
  smooth_often(self, grid, SMOOTHINGS);
}

static void solve(int self) {
  for (int i = 0; i < cycles; i++) cycle(self, 0);
}

// ---------------------------------------------------------------- the problem

static double* zeros(size_t bytes) {
  double* memory = allocate(bytes);
  memset(memory, 0, bytes);
  return memory;
}

static void prepare(int finest_level) {
  grid_count = finest_level - COARSEST + 1;
  for (int level = 0; level < grid_count; level++) {
    Grid* grid = &grids[level];
    grid->size = (1 << (finest_level - level)) - 1;
    const size_t bytes = sizeof(double) * (size_t)(grid->size + 2) * (size_t)(grid->size + 2);
    grid->u = zeros(bytes);
    grid->f = zeros(bytes);
    grid->other = zeros(bytes);
  }
  const Grid* finest = &grids[0];
  const double h = 1.0 / (finest->size + 1.0);
  for (int i = 1; i <= finest->size; i++)
    for (int j = 1; j <= finest->size; j++)
      finest->f[at(finest, i, j)] = sin(3 * M_PI * i * h) * sin(2 * M_PI * j * h) + (i * 7 + j * 3) % 11 * 0.1;
}

static double residual(void) {
  double sum = 0;
  for (int i = 1; i <= grids[0].size; i++)
    for (int j = 1; j <= grids[0].size; j++) {
      const double r = residual_at(&grids[0], i, j);
      sum += r * r;
    }
  return sqrt(sum);
}

// ---------------------------------------------------------------- as units of a packing

static weft_barrier all_units;

static void wait_as_unit(void) {
  static atomic_int arrived;
  if (counts_work && atomic_fetch_add(&arrived, 1) == threads - 1) {
    atomic_store(&arrived, 0);
    settle_work();
  }
  weft_barrier_wait(&all_units, NULL);
}

static int worker_of_unit(void) { return (int)weft_worker_index(weft_worker_self()) % MOST_THREADS; }
static void solve_as_unit(void* self) { solve((int)(intptr_t)self); }

// So that workers that share a CPU advance alike: the kernel lets each run for no longer than this (Linux 6.12; else
// for as long as it likes).
static void ask_for_short_turns(void) {
  const uint64_t turn_ns = 100000;
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } wanted = {.size = sizeof wanted, .policy = SCHED_OTHER, .nice = getpriority(PRIO_PROCESS, 0), .runtime = turn_ns};
  syscall(SYS_sched_setattr, 0, &wanted, 0);
}

static double solve_packed(weft_preemption kind) {
  weft_pool* pools[MOST_THREADS];
  weft_scheduler* schedulers[MOST_THREADS];
  weft_worker* workers[MOST_THREADS];
  weft_unit* units[MOST_THREADS];
  weft_packing* packing = NULL;
  if (counts_work) ask_for_short_turns();
  if (weft_init() != WEFT_OK) fail("multigrid: weft_init");
  weft_barrier_init(&all_units, (unsigned)threads);
  for (int i = 0; i < threads; i++) weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pools[i]);
  if (weft_packing_create((size_t)threads, pools, schedulers, &packing) != WEFT_OK) fail("multigrid: no packing");
  weft_packing_set_active(packing, (size_t)active);
  for (int i = 0; i < threads; i++)
    if (weft_worker_create(schedulers[i], &workers[i]) != WEFT_OK) fail("multigrid: no worker");
  const double began = now_ns();
  for (int i = 0; i < threads; i++) {
    weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
    attr.pool = pools[i];
    attr.preemption = kind;
    if (weft_unit_create(solve_as_unit, (void*)(intptr_t)i, &attr, &units[i]) != WEFT_OK) fail("multigrid: no unit");
  }
  weft_unit_free_many((size_t)threads, units);
  const double took = now_ns() - began;
  for (int i = 0; i < threads; i++) weft_worker_join(workers[i]);
  return took;
}

// ---------------------------------------------------------------- as threads of OpenMP

static void wait_as_member(void) {
#pragma omp barrier
}

static cpu_set_t first_cpus(int count) {
  cpu_set_t usable, set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof usable, &usable);
  for (size_t cpu = 0, taken = 0; cpu < CPU_SETSIZE && taken < (size_t)count; cpu++)
    if (CPU_ISSET(cpu, &usable)) CPU_SET(cpu, &set), taken++;
  return set;
}

static double solve_by_openmp(bool packed) {
  const cpu_set_t cpus = first_cpus(active);
  double took = 0;
  omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
  if (!packed) sched_setaffinity(0, sizeof cpus, &cpus);
  if (packed && sigqueue(getpid(), SIGURG, (union sigval){.sival_int = active}) != 0) fail("multigrid: sigqueue");
#pragma omp parallel num_threads(threads)
  {
    wait_as_member();
    const double began = now_ns();
    solve(omp_get_thread_num());
#pragma omp master
    took = now_ns() - began;
  }
  return took;
}

int main(int count, char** arguments) {
  if (count != 6) fail("multigrid: KIND THREADS ACTIVE CYCLES LEVEL");
  const int level = atoi(arguments[5]);
  threads = atoi(arguments[2]);
  active = atoi(arguments[3]);
  cycles = atoi(arguments[4]);
  if (threads < 1 || threads > MOST_THREADS || active < 1 || active > threads || cycles < 1)
    fail("multigrid: 1 to %d threads, as many active at most, and 1 cycle at least", MOST_THREADS);
  if (level <= COARSEST || level >= COARSEST + MOST_GRIDS) fail("multigrid: a level from %d on", COARSEST + 1);
  prepare(level);
  const double before = residual();
  double took = 0;
  if (strncmp(arguments[1], "openmp", 6) == 0) {
    wait_for_all = wait_as_member;
    took = solve_by_openmp(strcmp(arguments[1], "openmp-packed") == 0);
  } else {
    const char* const names[] = {"weft-none", "weft-signal-yield", "weft-klt-switch"};
    const weft_preemption kinds[] = {WEFT_PREEMPT_NONE, WEFT_PREEMPT_SIGNAL_YIELD, WEFT_PREEMPT_KLT_SWITCH};
    int kind = 0;
    while (kind < 3 && strcmp(arguments[1], names[kind]) != 0) kind++;
    if (kind == 3) fail("multigrid: no such kind");
    wait_for_all = wait_as_unit;
    worker_here = worker_of_unit;
    counts_work = getenv("MULTIGRID_COUNT") != NULL;
    for (int thread = 0; thread < threads; thread++) atomic_store(&last_worker[thread], nowhere);
    took = solve_packed(kinds[kind]);
  }
  const double left = residual() / before;
  printf(
      "{\"name\": \"multigrid\", \"ns\": %.0f, \"simulated_ns\": %.0f, \"work_ns\": %.0f, \"residual\": %.9e, \"ok\": "
      "%s, "
      "\"runtime\": \"%s\"}\n",
      took, simulated_ns, work_ns, left, left < pow(0.5, cycles) ? "true" : "false", runtime_path());
  return 0;
}
