// What the task programs share: a problem that one region of `threads` members solves by tasks, and the same solved
// by one thread without OpenMP, which says what the result must be.
#ifndef WEFT_BENCH_TASK_PROGRAM_H
#define WEFT_BENCH_TASK_PROGRAM_H

#include <omp.h>

#include "common.h"

typedef struct {
  const char* name;
  int n;                   // the default size
  void (*prepare)(int n);  // before the first run; NULL: nothing to be done
  void (*solve)(void);     // called by one member of the region; all tasks must have ended when the region does
  bool (*is_right)(void);  // looks at the result of the last solve()
} TaskProgram;

static const TaskProgram* task_program;
static int task_threads;
static int task_team;

static void solve_in_region(void* argument) {
  (void)argument;
#pragma omp parallel num_threads(task_threads)
#pragma omp single nowait
  {
    task_team = omp_get_num_threads();
    task_program->solve();
  }
}

static int run_task_program(int argc, char** argv, const TaskProgram* program) {
  const char* const configs[] = {"threads=2"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  task_program = program;
  for (int i = 0; i < options.configs; i++) {
    const int n = config_count(options.config[i], "n", program->n);
    task_threads = config_count(options.config[i], "threads", 2);
    if (program->prepare) program->prepare(n);
    const double start = now_ns();
    solve_in_region(NULL);
    const double first_ns = now_ns() - start;
    const bool before = program->is_right() && task_team == task_threads;
    const Samples samples = measure(&options, first_ns, solve_in_region, NULL);
    print_result(program->name, options.config[i], text("\"n\": %d, \"threads\": %d", n, task_threads), &samples, 0,
                 before && program->is_right(), "");
  }
  return 0;
}

#endif
