/* Tasks with a detach clause whose taskgroup is cancelled: their events are fulfilled, by a thread from outside, while
 * members discard them. Where a tool watched, it was told of tasks that were gone. */
#include <pthread.h>
#include <sched.h>

#include "check.h"

enum { TASKS = 60 };

struct events {
  omp_event_handle_t list[TASKS];
  int cancelled;
};

static void* fulfil_all(void* argument) {
  struct events* const events = argument;
  CHECK_EQ(omp_get_thread_num(), 0); /* the first call takes longer than the others need to discard the tasks */
  while (!check_load(&events->cancelled)) sched_yield();
  for (int i = TASKS - 1; i >= 0; --i) omp_fulfill_event(events->list[i]); /* the newest are discarded first */
  return NULL;
}

static void cancel_group_of(struct events* events, int* ran) {
#pragma omp taskgroup
  {
    for (int i = 0; i < TASKS; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event)
      check_add(ran, 1);
      events->list[i] = event;
    }
#pragma omp task
    {
      check_store(&events->cancelled, 1);
#pragma omp cancel taskgroup
    }
  }
}

static void body(void) {
  for (int round = 0; round < CHECK_SCALE(20); ++round) {
    struct events events = {.cancelled = 0};
    int ran = 0, after = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, fulfil_all, &events) != 0) abort();
#pragma omp parallel
    {
#pragma omp single
      cancel_group_of(&events, &ran);
      check_add(&after, 1);
#pragma omp single
      {
#pragma omp task shared(after)
        check_add(&after, 1000);
      }
    }
    pthread_join(thread, NULL);
    CHECK_LE(ran, TASKS);
    CHECK_GE(after, 1001);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run(body);
}
