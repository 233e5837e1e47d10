// Figs. 4.7 and 4.8: the cost of parallel regions whose members do nothing, flat and nested.
//
//   members=N            one region of N members
//   outer=L,inner=N      a region of L members, each of which opens one of N
//   barrier=1            with a barrier in each inner region
//   barrier=1,task=1     and a task of each outer member's: those that wait at the end look for more of these
//   taskloop=1           a taskloop of N tasks in place of each inner region, its outer loop run by a thread for each
//   CPU
//
// Before and after the measurement the same regions run once with every member checked: its number, its
// team's size, its level and its ancestor's number. A runtime that makes smaller teams than asked for fails
// this check.
#include <omp.h>
#include <stdatomic.h>

#include "common.h"

typedef struct {
  int outer;  // 0: flat
  int inner;
  bool barrier;
  bool task;
  bool taskloop;
} Shape;

__attribute__((noinline)) static void empty(int i, int j) { __asm__ volatile("" : : "r"(i), "r"(j) : "memory"); }

static void flat(void* argument) {
  const int members = ((const Shape*)argument)->inner;
#pragma omp parallel for num_threads(members)
  for (int j = 0; j < members; j++) empty(0, j);
}

static void nested(void* argument) {
  const Shape shape = *(const Shape*)argument;
#pragma omp parallel for num_threads(shape.outer)
  for (int i = 0; i < shape.outer; i++) {
#pragma omp parallel for num_threads(shape.inner)
    for (int j = 0; j < shape.inner; j++) empty(i, j);
  }
}

static void nested_with_barriers(void* argument) {
  const Shape shape = *(const Shape*)argument;
#pragma omp parallel for num_threads(shape.outer)
  for (int i = 0; i < shape.outer; i++) {
    if (shape.task) {
#pragma omp task
      empty(i, 0);
    }
#pragma omp parallel num_threads(shape.inner)
    {
      empty(i, omp_get_thread_num());
#pragma omp barrier
    }
  }
}

static void nested_taskloops(void* argument) {
  const Shape shape = *(const Shape*)argument;
#pragma omp parallel for num_threads(available_cpus) schedule(dynamic, 1)
  for (int i = 0; i < shape.outer; i++) {
#pragma omp taskloop num_tasks(shape.inner)
    for (int j = 0; j < shape.inner; j++) empty(i, j);
  }
}

static atomic_long members_right, members_run, smallest_team;

static void check_member(int level, int i, int j, int team) {
  const bool right = omp_get_num_threads() == team && omp_get_thread_num() == j && omp_get_level() == level &&
                     (level == 1 || omp_get_ancestor_thread_num(1) == i);
  atomic_fetch_add(&members_run, 1);
  if (right) atomic_fetch_add(&members_right, 1);
  if (omp_get_num_threads() < atomic_load(&smallest_team)) atomic_store(&smallest_team, omp_get_num_threads());
}

// Tasks have no numbers: what can be checked is that as many iterations run as there are.
static void check_taskloops(Shape shape) {
#pragma omp parallel for num_threads(available_cpus) schedule(dynamic, 1)
  for (int i = 0; i < shape.outer; i++) {
#pragma omp taskloop num_tasks(shape.inner)
    for (int j = 0; j < shape.inner; j++) {
      atomic_fetch_add(&members_run, 1);
      atomic_fetch_add(&members_right, 1);
    }
  }
}

static bool check(Shape shape) {
  atomic_store(&members_right, 0);
  atomic_store(&members_run, 0);
  atomic_store(&smallest_team, INT_MAX);
  if (shape.taskloop) {
    check_taskloops(shape);
  } else if (shape.outer == 0) {
#pragma omp parallel for num_threads(shape.inner)
    for (int j = 0; j < shape.inner; j++) check_member(1, 0, j, shape.inner);
  } else {
#pragma omp parallel for num_threads(shape.outer)
    for (int i = 0; i < shape.outer; i++) {
#pragma omp parallel for num_threads(shape.inner)
      for (int j = 0; j < shape.inner; j++) check_member(2, i, j, shape.inner);
    }
  }
  const long expected = (long)(shape.outer ? shape.outer : 1) * shape.inner;
  return atomic_load(&members_right) == expected && atomic_load(&members_run) == expected;
}

static void run(const Options* options, const char* config) {
  Shape shape = {config_int(config, "outer", 0), config_count(config, "inner", config_count(config, "members", 2)),
                 config_int(config, "barrier", 0) != 0, config_int(config, "task", 0) != 0,
                 config_int(config, "taskloop", 0) != 0};
  if (shape.taskloop && shape.outer == 0) fail("taskloop: of nested regions (outer=L,inner=N) only");
  if (shape.task && !shape.barrier) fail("task: with barrier=1 only");
  const double start = now_ns();
  const bool before = check(shape);
  void (*const regions)(void*) = !shape.outer     ? flat
                                 : shape.taskloop ? nested_taskloops
                                 : shape.barrier  ? nested_with_barriers
                                                  : nested;
  const Samples samples = measure(options, now_ns() - start, regions, &shape);
  const bool after = check(shape);
  const char* params = shape.outer ? text("\"outer\": %d, \"inner\": %d", shape.outer, shape.inner)
                                   : text("\"members\": %d", shape.inner);
  print_result("regions", config, params, &samples, 0, before && after,
               shape.taskloop ? text("\"iterations\": %ld", atomic_load(&members_right))
                              : text("\"members\": %ld, \"smallest_team\": %ld", atomic_load(&members_right),
                                     atomic_load(&smallest_team)));
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"members=2",         "members=4",        "members=8",       "members=16",
                                        "members=28",        "members=56",       "outer=2,inner=2", "outer=8,inner=8",
                                        "outer=28,inner=28", "outer=56,inner=56"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
