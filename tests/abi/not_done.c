/* Entry points that weft does not have yet, reached by name (`not_done NAME`) or through a construct
 * (`not_done construct-NAME`). The call must not return; not_done.py checks how the process ends. */
#include <stdint.h>

#include "check.h"

static void use_doacross(void) {
  int values[20] = {0};
#pragma omp parallel for ordered(1)
  for (int i = 1; i < 20; ++i) {
#pragma omp ordered depend(sink : i - 1)
    values[i] = values[i - 1] + 1;
#pragma omp ordered depend(source)
  }
}

static void use_task_reduction(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 5; ++i) {
#pragma omp task in_reduction(+ : sum)
    sum += i;
  }
}

static void use_taskloop_reduction(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : sum)
  for (int i = 0; i < 50; ++i) sum += i;
}

static void use_reduction_modifier(void) {
  int sum = 0;
#pragma omp parallel reduction(task, + : sum)
#pragma omp task in_reduction(+ : sum)
  sum += 1;
}

static void use_loop_reduction_modifier(void) {
  int sum = 0;
#pragma omp parallel
  {
#pragma omp for reduction(task, + : sum)
    for (int i = 0; i < 20; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += 1;
    }
  }
}

static void use_detach(void) {
  omp_event_handle_t event;
#pragma omp parallel
#pragma omp single
#pragma omp task detach(event)
  omp_fulfill_event(event);
}

static const struct {
  const char* name;
  void (*function)(void);
} constructs[] = {
    {"construct-doacross", use_doacross},
    {"construct-task-reduction", use_task_reduction},
    {"construct-taskloop-reduction", use_taskloop_reduction},
    {"construct-reduction-modifier", use_reduction_modifier},
    {"construct-loop-reduction-modifier", use_loop_reduction_modifier},
    {"construct-detach", use_detach},
};

int main(int argc, char** argv) {
  check_runtime();
  if (argc != 2) return 2;
  for (size_t i = 0; i < sizeof constructs / sizeof *constructs; ++i)
    if (strcmp(argv[1], constructs[i].name) == 0) {
      constructs[i].function();
      return 0;
    }
  void (*const entry)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t) =
      (void (*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t))dlsym(RTLD_DEFAULT, argv[1]);
  if (entry == NULL) return 3;
  entry(0, 0, 0, 0, 0, 0);
  return 0;
}
