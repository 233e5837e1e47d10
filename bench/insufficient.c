// Figs. 4.9a and 4.10, insufficient parallelism: an outer region of few members, inner regions of `inner`
// members with `cycles` of work each; taskloop=1: a taskloop of `inner` tasks in place of each inner region, the outer
// loop run by a thread for each CPU. The ideal is the total work over the CPUs.
#include <omp.h>
#include <stdatomic.h>

#include "common.h"
#include "work.h"

typedef struct {
  int outer, inner;
  uint64_t steps;
  uint64_t* result;
  atomic_bool team_wrong;
} Case;

static void kernel(void* argument) {
  Case* const c = argument;
#pragma omp parallel for num_threads(c->outer)
  for (int i = 0; i < c->outer; i++) {
#pragma omp parallel for num_threads(c->inner)
    for (int j = 0; j < c->inner; j++) {
      const int member = i * c->inner + j;
      c->result[member] = work_steps((uint64_t)member, c->steps);
      if (omp_get_num_threads() != c->inner) c->team_wrong = true;
    }
  }
}

static void kernel_of_taskloops(void* argument) {
  Case* const c = argument;
#pragma omp parallel for num_threads(available_cpus) schedule(dynamic, 1)
  for (int i = 0; i < c->outer; i++) {
#pragma omp taskloop num_tasks(c->inner)
    for (int j = 0; j < c->inner; j++) {
      const int member = i * c->inner + j;
      c->result[member] = work_steps((uint64_t)member, c->steps);
    }
  }
}

static bool results_right(const Case* c) {
  for (int member = 0; member < c->outer * c->inner; member++) {
    if (c->result[member] != work_steps((uint64_t)member, c->steps)) return false;
  }
  return true;
}

static void run(const Options* options, const char* config) {
  const double cycles = config_number(config, "cycles", 20000);
  Case c = {config_count(config, "outer", 4), config_count(config, "inner", 28), steps_for(cycles), NULL, false};
  const int members = c.outer * c.inner;
  c.result = allocate(sizeof(uint64_t) * (size_t)members);
  const Samples samples = measure(options, 0, config_int(config, "taskloop", 0) ? kernel_of_taskloops : kernel, &c);
  const bool right = results_right(&c);
  print_result("insufficient", config, text("\"outer\": %d, \"inner\": %d, \"cycles\": %.0f", c.outer, c.inner, cycles),
               &samples, ideal_us((double)members * (double)c.steps, members), right && !c.team_wrong,
               text("\"results\": %s, \"teams\": %s, \"ns_per_step\": %.4f", right ? "true" : "false",
                    c.team_wrong ? "false" : "true", work_ns_per_step_best));
  free(c.result);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"outer=1,inner=28", "outer=2,inner=28",  "outer=4,inner=28",
                                        "outer=8,inner=28", "outer=28,inner=28", "outer=1,inner=8",
                                        "outer=2,inner=8",  "outer=4,inner=8",   "outer=8,inner=8"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  calibrate_work();
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
