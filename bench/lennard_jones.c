// A molecular dynamics simulation beside which its own data are analysed (S. Shiina et al., PPoPP 2021, section 4.3,
// Fig. 9): atoms with the Lennard-Jones potential in a periodic box. In each step WORKERS simulation units find the
// forces; then the main thread alone does the rest, and waits for EXCHANGE_US microseconds, as it would for other
// nodes: there CPUs are idle. Every EVERY steps the atoms are copied, and WORKERS - 1 analysis units count the
// distances between them.
//
//   lennard_jones KIND ATOMS STEPS EVERY WORKERS EXCHANGE_US   one JSON object on stdout: "simulation_ns" until the
//   last
//                                                              step is done, "ns" until all are analysed
//
// KIND: none (no analysis); weft (analysis units in the pools of the others, not preemptive); weft-priority (in pools
// of their own, which have their turn when no simulation unit is ready, and preemptive by signal-yield, one timer for
// all); pthread, pthread-nice (a thread of the kernel's for each analysis unit, with the lowest priority in the
// latter).
//
// Checked: the total energy stays what it was, and the analysis finds what one thread finds. What the simulation
// computes does not depend on KIND: "state" is a sum over all atoms, the same to the last bit for all.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/weft.h>

#include "common.h"

enum { MOST_WORKERS = 64, BINS = 64, PER_CELL = 64, SAMPLE = 32 };

typedef struct {
  double x, y, z;
} Vector;

static int atoms, steps, every, workers, side;
static double box, potential[MOST_WORKERS];
static Vector *position, *velocity, *force;
static const double cutoff = 2.5, step_size = 0.002;

// ---------------------------------------------------------------- the simulation

// Atoms by cells no smaller than the cutoff, so that only neighbouring cells matter.
static int cells;  // in a row
static int* count_in_cell;
static int (*in_cell)[PER_CELL];

static int cell_along(double x) {
  const int cell = (int)(x / box * cells);
  return cell < 0 ? 0 : cell >= cells ? cells - 1 : cell;
}

static void sort_into_cells(void) {
  memset(count_in_cell, 0, sizeof(int) * (size_t)(cells * cells * cells));
  for (int i = 0; i < atoms; i++) {
    const int cell =
        (cell_along(position[i].x) * cells + cell_along(position[i].y)) * cells + cell_along(position[i].z);
    if (count_in_cell[cell] == PER_CELL) fail("lennard_jones: too many atoms in a cell");
    in_cell[cell][count_in_cell[cell]++] = i;
  }
}

static double nearest(double distance) { return distance - box * rint(distance / box); }

// Each atom's force is found by one unit and from its own side, so that sums do not depend on who comes first.
static double force_on(int i) {
  Vector sum = {0, 0, 0};
  double energy = 0;
  const int x = cell_along(position[i].x), y = cell_along(position[i].y), z = cell_along(position[i].z);
  for (int dx = -1; dx <= 1; dx++)
    for (int dy = -1; dy <= 1; dy++)
      for (int dz = -1; dz <= 1; dz++) {
        const int cell =
            ((x + dx + cells) % cells * cells + (y + dy + cells) % cells) * cells + (z + dz + cells) % cells;
        for (int k = 0; k < count_in_cell[cell]; k++) {
          const int j = in_cell[cell][k];
          if (j == i) continue;
          const double rx = nearest(position[i].x - position[j].x), ry = nearest(position[i].y - position[j].y),
                       rz = nearest(position[i].z - position[j].z);
          const double r2 = rx * rx + ry * ry + rz * rz;
          if (r2 >= cutoff * cutoff) continue;
          const double s6 = 1 / (r2 * r2 * r2), pull = 24 * s6 * (2 * s6 - 1) / r2;
          const double c6 = 1 / pow(cutoff, 6);
          sum.x += pull * rx, sum.y += pull * ry, sum.z += pull * rz;
          energy += 2 * (s6 * s6 - s6) - 2 * (c6 * c6 - c6);  // half of it is the other atom's
        }
      }
  force[i] = sum;
  return energy;
}

static void find_forces(void* part) {
  const int self = (int)(intptr_t)part;
  double energy = 0;
  for (int i = atoms * self / workers; i < atoms * (self + 1) / workers; i++) energy += force_on(i);
  potential[self] = energy;
}

static void kick(void) {
  for (int i = 0; i < atoms; i++) {
    velocity[i].x += step_size / 2 * force[i].x;
    velocity[i].y += step_size / 2 * force[i].y;
    velocity[i].z += step_size / 2 * force[i].z;
  }
}

static double wrapped(double x) { return x < 0 ? x + box : x >= box ? x - box : x; }

static void drift(void) {
  for (int i = 0; i < atoms; i++) {
    position[i].x = wrapped(position[i].x + step_size * velocity[i].x);
    position[i].y = wrapped(position[i].y + step_size * velocity[i].y);
    position[i].z = wrapped(position[i].z + step_size * velocity[i].z);
  }
}

static double total_energy(void) {
  double energy = 0;
  for (int part = 0; part < workers; part++) energy += potential[part];
  for (int i = 0; i < atoms; i++)
    energy += (velocity[i].x * velocity[i].x + velocity[i].y * velocity[i].y + velocity[i].z * velocity[i].z) / 2;
  return energy;
}

static double state(void) {
  double sum = 0;
  for (int i = 0; i < atoms; i++) sum += position[i].x + 2 * position[i].y + 3 * position[i].z;
  return sum;
}

static double random_number(void) {
  static uint64_t word = 88172645463325252U;
  word ^= word << 13U, word ^= word >> 7U, word ^= word << 17U;
  return (double)(word >> 11U) / 9007199254740992.0 - 0.5;
}

static void prepare(void) {
  side = (int)cbrt((double)atoms);
  if (side * side * side != atoms) fail("lennard_jones: the number of atoms must be a cube");
  box = side * 1.2;
  cells = (int)(box / cutoff);
  if (cells < 3) fail("lennard_jones: 512 atoms at least");
  position = allocate(sizeof(Vector) * (size_t)atoms);
  velocity = allocate(sizeof(Vector) * (size_t)atoms);
  force = allocate(sizeof(Vector) * (size_t)atoms);
  count_in_cell = allocate(sizeof(int) * (size_t)(cells * cells * cells));
  in_cell = allocate(sizeof *in_cell * (size_t)(cells * cells * cells));
  for (int i = 0; i < atoms; i++) {
    position[i] = (Vector){(i % side + 0.5) * 1.2, (i / side % side + 0.5) * 1.2, (i / side / side + 0.5) * 1.2};
    velocity[i] = (Vector){random_number(), random_number(), random_number()};
  }
}

// ---------------------------------------------------------------- the analysis

// Of one copy of the atoms: how many are how far from every SAMPLE-th of them, as far as half of the box.
typedef struct Analysis {
  struct Analysis* next;
  Vector* copy;
  atomic_long pairs[BINS];
  int step, parts;
  struct Part {
    struct Analysis* of;
    int number;
    weft_unit* unit;
    pthread_t thread;
  } part[MOST_WORKERS];
} Analysis;

static void count_pairs(const Analysis* analysis, int first, int last, long* pairs) {
  for (int i = first * SAMPLE; i < last * SAMPLE && i < atoms; i += SAMPLE)
    for (int j = 0; j < atoms; j++) {
      const double rx = nearest(analysis->copy[i].x - analysis->copy[j].x),
                   ry = nearest(analysis->copy[i].y - analysis->copy[j].y),
                   rz = nearest(analysis->copy[i].z - analysis->copy[j].z);
      const int bin = (int)(sqrt(rx * rx + ry * ry + rz * rz) / box * 2 * BINS);
      if (bin < BINS) pairs[bin]++;
    }
}

static int samples(void) { return (atoms + SAMPLE - 1) / SAMPLE; }

static void analyse_part(void* argument) {
  const struct Part* part = argument;
  Analysis* analysis = part->of;
  long pairs[BINS] = {0};
  const int first = samples() * part->number / analysis->parts, last = samples() * (part->number + 1) / analysis->parts;
  count_pairs(analysis, first, last, pairs);
  for (int bin = 0; bin < BINS; bin++)
    atomic_fetch_add_explicit(&analysis->pairs[bin], pairs[bin], memory_order_relaxed);
}

static Analysis* begin_analysis(int step) {
  Analysis* analysis = allocate(sizeof *analysis);
  memset(analysis, 0, sizeof *analysis);
  analysis->copy = allocate(sizeof(Vector) * (size_t)atoms);
  memcpy(analysis->copy, position, sizeof(Vector) * (size_t)atoms);
  analysis->step = step;
  analysis->parts = workers > 1 ? workers - 1 : 1;
  for (int number = 0; number < analysis->parts; number++) {
    analysis->part[number].of = analysis;
    analysis->part[number].number = number;
  }
  return analysis;
}

static bool is_right(const Analysis* analysis) {
  long pairs[BINS] = {0};
  count_pairs(analysis, 0, samples(), pairs);
  for (int bin = 0; bin < BINS; bin++)
    if (pairs[bin] != atomic_load(&analysis->pairs[bin])) return false;
  return true;
}

// ---------------------------------------------------------------- who runs it

enum Kind { NONE, WEFT, WEFT_PRIORITY_OF_SIMULATION, PTHREAD, PTHREAD_NICE };
static const char* const kind_names[] = {"none", "weft", "weft-priority", "pthread", "pthread-nice"};
static enum Kind kind;
static weft_pool *for_simulation, *for_analysis[MOST_WORKERS];

static void* analyse_in_thread(void* part) {
  if (kind == PTHREAD_NICE) setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
  analyse_part(part);
  return NULL;
}

static void start_analysis(Analysis* analysis) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = kind == WEFT_PRIORITY_OF_SIMULATION ? WEFT_PREEMPT_DEFAULT : WEFT_PREEMPT_NONE;
  for (int number = 0; number < analysis->parts; number++) {
    struct Part* part = &analysis->part[number];
    attr.pool = kind == WEFT ? for_simulation : for_analysis[number];
    const bool by_weft = kind == WEFT || kind == WEFT_PRIORITY_OF_SIMULATION;
    if (by_weft ? weft_unit_create(analyse_part, part, &attr, &part->unit) != WEFT_OK
                : pthread_create(&part->thread, NULL, analyse_in_thread, part) != 0)
      fail("lennard_jones: no unit");
  }
}

static void wait_for_analysis(const Analysis* analysis) {
  for (int number = 0; number < analysis->parts; number++) {
    if (kind == WEFT || kind == WEFT_PRIORITY_OF_SIMULATION)
      weft_unit_free(analysis->part[number].unit);
    else
      pthread_join(analysis->part[number].thread, NULL);
  }
}

static void simulate_forces(void) {
  weft_unit* units[MOST_WORKERS];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.pool = for_simulation;
  attr.preemption = WEFT_PREEMPT_NONE;
  for (int part = 0; part < workers; part++)
    if (weft_unit_create(find_forces, (void*)(intptr_t)part, &attr, &units[part]) != WEFT_OK)
      fail("lennard_jones: no unit");
  weft_unit_free_many((size_t)workers, units);
}

static weft_worker* worker_of_weft[MOST_WORKERS];
static weft_scheduler *only_simulates, *scheduler[MOST_WORKERS];

// The workers, of which the main thread is one: the simulation's pool first, then the worker's own for analysis, and
// then those of others. The main thread only simulates, as long as there is something to simulate.
static void start_workers(void) {
  if (weft_init() != WEFT_OK) fail("lennard_jones: weft_init");
  weft_preempt_timer(WEFT_TIMER_CHAIN, 1000000);
  weft_pool_create(WEFT_FIFO, WEFT_MPMC, &for_simulation);
  for (int i = 0; i < workers; i++) {
    weft_pool_create(WEFT_LIFO, WEFT_MPMC, &for_analysis[i]);
    weft_pool_set_preemption(for_analysis[i], WEFT_PREEMPT_SIGNAL_YIELD);
  }
  for (int i = 0; i < workers; i++) {
    weft_pool* pools[MOST_WORKERS + 1] = {for_simulation};
    for (int other = 0; other < workers; other++) pools[1 + other] = for_analysis[(i + other) % workers];
    if (i == 0 && weft_scheduler_create(WEFT_BY_PRIORITY, 1, pools, &only_simulates) != WEFT_OK)
      fail("lennard_jones: no scheduler");
    if (weft_scheduler_create(WEFT_BY_PRIORITY, (size_t)workers + 1, pools, &scheduler[i]) != WEFT_OK)
      fail("lennard_jones: no scheduler");
    if (i == 0)
      weft_worker_set_scheduler(weft_worker_self(), only_simulates);
    else if (weft_worker_create(scheduler[i], &worker_of_weft[i]) != WEFT_OK)
      fail("lennard_jones: no worker");
  }
}

static void end_workers(void) {
  weft_worker_set_scheduler(weft_worker_self(), NULL);
  for (int i = 1; i < workers; i++) weft_worker_join(worker_of_weft[i]);
}

// What other nodes would have to say between two steps.
static void exchange(long microseconds) {
  struct timespec left = {microseconds / 1000000, microseconds % 1000000 * 1000};
  while (nanosleep(&left, &left) != 0) {
  }
}

static void step(void) {
  kick();
  drift();
  sort_into_cells();
  simulate_forces();
  kick();
}

int main(int count, char** arguments) {
  if (count != 7) fail("lennard_jones: KIND ATOMS STEPS EVERY WORKERS EXCHANGE_US");
  while (kind <= PTHREAD_NICE && strcmp(arguments[1], kind_names[kind]) != 0) kind++;
  if (kind > PTHREAD_NICE) fail("lennard_jones: no such kind");
  atoms = atoi(arguments[2]);
  steps = atoi(arguments[3]);
  every = atoi(arguments[4]);
  workers = atoi(arguments[5]);
  const long exchange_us = atol(arguments[6]);
  if (steps < 1 || every < 1 || workers < 1 || workers > MOST_WORKERS || exchange_us < 0)
    fail("lennard_jones: numbers from 1 on, %d workers at most", MOST_WORKERS);
  prepare();
  start_workers();
  sort_into_cells();
  simulate_forces();
  const double energy = total_energy();

  Analysis* newest = NULL;
  const double began = now_ns();
  for (int done = 1; done <= steps; done++) {
    step();
    if (kind != NONE && done % every == 0) {
      Analysis* analysis = begin_analysis(done);
      analysis->next = newest;
      newest = analysis;
      start_analysis(analysis);
    }
    exchange(exchange_us);
  }
  const double simulated = now_ns() - began;
  if (weft_worker_set_scheduler(weft_worker_self(), scheduler[0]) != WEFT_OK) fail("lennard_jones: scheduler");
  for (const Analysis* one = newest; one; one = one->next) wait_for_analysis(one);
  const double took = now_ns() - began;

  const double drifted = fabs(total_energy() - energy) / fabs(energy);
  const bool right = newest == NULL || is_right(newest);
  printf(
      "{\"name\": \"lennard_jones\", \"ns\": %.0f, \"simulation_ns\": %.0f, \"energy_drift\": %.3g, \"state\": \"%a\", "
      "\"preempted\": %llu, \"ok\": %s}\n",
      took, simulated, drifted, state(), (unsigned long long)weft_preemptions(),
      right && drifted < 1e-3 ? "true" : "false");
  end_workers();
  return 0;
}
