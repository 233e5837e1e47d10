/* priority, with OMP_MAX_TASK_PRIORITY: of tasks that wait to be run, the one with the highest priority is. */

#include "check.h"

static void body(void) {
  enum { TASKS = 60 };
  int order[TASKS], next = 0, blocked = 0;
  (void)blocked; /* only its address matters */
  CHECK_EQ(omp_get_max_task_priority(), 100);
  /* One thread, which creates them all before it runs any. */
#pragma omp parallel num_threads(1)
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : blocked)
    check_work(1);
    for (int i = 0; i < TASKS; ++i) {
#pragma omp task priority(i * 7 % TASKS) depend(in : blocked) shared(order, next)
      order[next++] = i * 7 % TASKS;
    }
    omp_fulfill_event(event);
  }
  CHECK_EQ(next, TASKS);
  for (int i = 0; i < next; ++i) CHECK_EQ(order[i], TASKS - 1 - i);
  /* More than the maximum is the maximum. */
  next = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < TASKS; ++i) {
#pragma omp task priority(1000 + i) shared(next)
    check_add(&next, 1);
  }
  CHECK_EQ(next, TASKS);
}

/* Of very many that nobody else takes, most are run where they are created. (Bug: all of them were kept.) */
static void many(void) {
  enum { MANY = 4000 };
  int plain = 0, ordered = 0, busy = 1;
  char place[MANY] = "";
  (void)place; /* only the addresses matter */
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    for (int i = 0; i < MANY; ++i) {
#pragma omp task priority(1) shared(plain)
      check_add(&plain, 1);
    }
    CHECK_GE(check_load(&plain), MANY / 2);
#pragma omp taskwait
    for (int i = 0; i < MANY; ++i) {
#pragma omp task priority(1) depend(inout : place[i]) shared(ordered)
      check_add(&ordered, 1);
    }
    CHECK_GE(check_load(&ordered), MANY / 2);
    check_store(&busy, 0);
  } else {
    while (check_load(&busy)) check_work(100);
  }
  CHECK_EQ(plain, MANY);
  CHECK_EQ(ordered, MANY);
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_MAX_TASK_PRIORITY", "100", argv);
  check_runtime();
  many();
  return check_run_flat(body);
}
