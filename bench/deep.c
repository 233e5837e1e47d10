// Figs. 4.12 and 4.13, deep nesting: every member opens a region of four until `depth` is reached; the leaves
// share 20,000 x 4^5 cycles. The ideal is the total work over the CPUs that the leaves can use. taskloop=1: taskloops
// of four in place of all regions but the first, which has a thread for each CPU.
#include <omp.h>
#include <stdatomic.h>

#include "common.h"
#include "work.h"

enum { WIDTH = 4, DEEPEST = 5 };

typedef struct {
  int depth;
  uint64_t steps;
  uint64_t* result;
  atomic_bool team_wrong;
} Case;

static void descend(Case* c, int level, int path) {
  if (level == c->depth) {
    c->result[path] = work_steps((uint64_t)path, c->steps);
    return;
  }
#pragma omp parallel for num_threads(WIDTH) firstprivate(c, level, path)
  for (int i = 0; i < WIDTH; i++) {
    if (omp_get_num_threads() != WIDTH || omp_get_active_level() != level + 1) c->team_wrong = true;
    descend(c, level + 1, path * WIDTH + i);
  }
}

static void kernel(void* argument) { descend(argument, 0, 0); }

static void descend_by_taskloops(Case* c, int level, int path) {
  if (level == c->depth) {
    c->result[path] = work_steps((uint64_t)path, c->steps);
    return;
  }
#pragma omp taskloop num_tasks(WIDTH) firstprivate(c, level, path)
  for (int i = 0; i < WIDTH; i++) descend_by_taskloops(c, level + 1, path * WIDTH + i);
}

static void kernel_of_taskloops(void* argument) {
  Case* const c = argument;
  if (c->depth == 0) {
    kernel(c);
    return;
  }
#pragma omp parallel for num_threads(available_cpus) schedule(dynamic, 1)
  for (int i = 0; i < WIDTH; i++) descend_by_taskloops(c, 1, i);
}

static int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

static void run(const Options* options, const char* config) {
  Case c = {.depth = config_int(config, "depth", 2)};
  if (c.depth < 0 || c.depth > DEEPEST) fail("depth is 0 to %d, not %d", DEEPEST, c.depth);
  const int leaves = power(WIDTH, c.depth);
  c.steps = steps_for(20000.0 * power(WIDTH, DEEPEST - c.depth));
  c.result = allocate(sizeof(uint64_t) * (size_t)leaves);
  const Samples samples = measure(options, 0, config_int(config, "taskloop", 0) ? kernel_of_taskloops : kernel, &c);
  bool right = true;
  for (int leaf = 0; leaf < leaves; leaf++) right = right && c.result[leaf] == work_steps((uint64_t)leaf, c.steps);
  print_result("deep", config, text("\"depth\": %d, \"width\": %d", c.depth, WIDTH), &samples,
               ideal_us((double)leaves * (double)c.steps, leaves), right && !c.team_wrong,
               text("\"results\": %s, \"teams\": %s, \"ns_per_step\": %.4f", right ? "true" : "false",
                    c.team_wrong ? "false" : "true", work_ns_per_step_best));
  free(c.result);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"depth=0", "depth=1", "depth=2", "depth=3", "depth=4", "depth=5"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  calibrate_work();
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
