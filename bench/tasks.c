// The overhead of tasks, after EPCC's suite (overhead.h). Keys: threads, kind=
//   parallel            every thread makes `repeats` tasks
//   parallel_depend     the same, each thread's tasks one after the other by depend(inout)
//   master              one thread makes them all
//   master_depend       the same, dealt to as many chains of depend(inout) as there are threads
//   busy                one thread makes tasks while the others are busy themselves
//   conditional         tasks with if(0)
//   taskwait, barrier   behind each task
//   nested              tasks that make as many tasks as there are threads, and wait for them
//   nested_master       the same, made by one thread
//   branch, leaf        binary trees of tasks of depth 6, with delays in every node, or in the leaves
#include "overhead.h"

enum { DEPTH = 6 };  // 1 << DEPTH divides FEWEST_REPEATS

static volatile bool never;
static char chain[MOST_THREADS][64];

static void test_parallel(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
#pragma omp task
    delay();
  }
}

static void test_parallel_depend(void) {
#pragma omp parallel
  {
    const int mine = omp_get_thread_num();
    for (int j = 0; j < repeats; j++) {
#pragma omp task depend(inout : chain[mine][0])
      delay();
    }
  }
}

static void test_master(void) {
#pragma omp parallel
#pragma omp master
  for (int j = 0; j < repeats * threads; j++) {
#pragma omp task
    delay();
  }
}

static void test_master_depend(void) {
#pragma omp parallel
#pragma omp master
  for (int j = 0; j < repeats * threads; j++) {
#pragma omp task depend(inout : chain[j % threads][0])
    delay();
  }
}

static void test_busy(void) {
#pragma omp parallel
  {
    const bool makes_tasks = omp_get_thread_num() == 0;
    for (int j = 0; j < repeats; j++) {
      if (makes_tasks) {
#pragma omp task
        delay();
      } else {
        delay();
      }
    }
  }
}

static void test_conditional(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
#pragma omp task if (never)
    delay();
  }
}

static void test_taskwait(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
#pragma omp task
    delay();
#pragma omp taskwait
  }
}

static void test_barrier(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
#pragma omp task
    delay();
#pragma omp barrier
  }
}

static void nest(void) {
#pragma omp task
  {
    for (int i = 0; i < threads; i++) {
#pragma omp task untied
      delay();
    }
#pragma omp taskwait
  }
}

static void test_nested(void) {
#pragma omp parallel
  for (int j = 0; j < repeats / threads; j++) nest();
}

static void test_nested_master(void) {
#pragma omp parallel
#pragma omp master
  for (int j = 0; j < repeats; j++) nest();
}

static void branch(int level) {
  if (level == 0) return;
#pragma omp task
  {
    branch(level - 1);
    branch(level - 1);
    delay();
  }
}

static void test_branch(void) {
#pragma omp parallel
  for (int j = 0; j < repeats >> DEPTH; j++) {
#pragma omp task
    {
      branch(DEPTH);
      delay();
    }
  }
}

static void leaf(int level) {
  if (level == 0) {
    delay();
    return;
  }
#pragma omp task
  {
    leaf(level - 1);
    leaf(level - 1);
  }
}

static void test_leaf(void) {
#pragma omp parallel
  for (int j = 0; j < repeats >> DEPTH; j++) leaf(DEPTH);
}

static long by_all_together(void) { return (long)(repeats / threads) * threads * threads; }

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=parallel", "kind=parallel_depend", "kind=master",   "kind=master_depend",
                                        "kind=busy",     "kind=conditional",     "kind=taskwait", "kind=barrier",
                                        "kind=nested",   "kind=nested_master",   "kind=branch",   "kind=leaf"};
  static const Construct constructs[] = {
      {"parallel", test_parallel, delays_alone, one_per_thread},
      {"parallel_depend", test_parallel_depend, delays_alone, one_per_thread},
      {"master", test_master, delays_alone, one_per_thread},
      {"master_depend", test_master_depend, delays_alone, one_per_thread},
      {"busy", test_busy, delays_alone, one_per_thread},
      {"conditional", test_conditional, delays_alone, one_per_thread},
      {"taskwait", test_taskwait, delays_alone, one_per_thread},
      {"barrier", test_barrier, delays_alone, one_per_thread},
      {"nested", test_nested, delays_alone, by_all_together},
      {"nested_master", test_nested_master, delays_alone, one_per_thread},
      {"branch", test_branch, delays_alone, one_per_thread},
      {"leaf", test_leaf, delays_alone, one_per_thread},
  };
  MEASURE_CONSTRUCTS(argc, argv, "tasks", configs, constructs);
  return 0;
}
