// Figs. 4.9b and 4.11, unbalanced inner loops: `size` outer members, each with an inner region of `size`
// members; outer member i gives each of its members 20,000 size (i+1)^alpha / (1^alpha + ... + size^alpha)
// cycles. The total does not depend on alpha; the ideal is the total over the CPUs. taskloop=1: a taskloop of `size`
// tasks in place of each inner region, the outer loop run by a thread for each CPU.
#include <math.h>
#include <omp.h>
#include <stdatomic.h>

#include "common.h"
#include "work.h"

typedef struct {
  int size;
  uint64_t* steps;  // of outer member i
  uint64_t* result;
  atomic_bool team_wrong;
} Case;

static void kernel(void* argument) {
  Case* const c = argument;
#pragma omp parallel for num_threads(c->size)
  for (int i = 0; i < c->size; i++) {
    const uint64_t steps = c->steps[i];
#pragma omp parallel for num_threads(c->size)
    for (int j = 0; j < c->size; j++) {
      const int member = i * c->size + j;
      c->result[member] = work_steps((uint64_t)member, steps);
      if (omp_get_num_threads() != c->size) c->team_wrong = true;
    }
  }
}

static void kernel_of_taskloops(void* argument) {
  Case* const c = argument;
#pragma omp parallel for num_threads(available_cpus) schedule(dynamic, 1)
  for (int i = 0; i < c->size; i++) {
    const uint64_t steps = c->steps[i];
#pragma omp taskloop num_tasks(c->size)
    for (int j = 0; j < c->size; j++) {
      const int member = i * c->size + j;
      c->result[member] = work_steps((uint64_t)member, steps);
    }
  }
}

static bool results_right(const Case* c) {
  for (int member = 0; member < c->size * c->size; member++) {
    if (c->result[member] != work_steps((uint64_t)member, c->steps[member / c->size])) return false;
  }
  return true;
}

// Fills in the steps of each outer member and returns the sum over all inner members.
static double share_work(Case* c, double alpha) {
  double sum = 0, total = 0;
  for (int j = 1; j <= c->size; j++) sum += pow(j, alpha);
  for (int i = 0; i < c->size; i++) {
    c->steps[i] = steps_for(20000.0 * c->size * pow(i + 1, alpha) / sum);
    total += (double)c->steps[i] * c->size;
  }
  return total;
}

static void run(const Options* options, const char* config) {
  const double alpha = config_number(config, "alpha", 1);
  Case c = {.size = config_count(config, "size", 56)};
  const int members = c.size * c.size;
  c.steps = allocate(sizeof(uint64_t) * (size_t)c.size);
  c.result = allocate(sizeof(uint64_t) * (size_t)members);
  const double total = share_work(&c, alpha);
  const Samples samples = measure(options, 0, config_int(config, "taskloop", 0) ? kernel_of_taskloops : kernel, &c);
  const bool right = results_right(&c);
  print_result("imbalance", config, text("\"alpha\": %g, \"size\": %d", alpha, c.size), &samples,
               ideal_us(total, members), right && !c.team_wrong,
               text("\"results\": %s, \"teams\": %s, \"ns_per_step\": %.4f", right ? "true" : "false",
                    c.team_wrong ? "false" : "true", work_ns_per_step_best));
  free(c.steps);
  free(c.result);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"alpha=0.1", "alpha=0.2", "alpha=0.5", "alpha=1",
                                        "alpha=2",   "alpha=5",   "alpha=10"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  calibrate_work();
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
