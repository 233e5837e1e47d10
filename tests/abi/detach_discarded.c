/* Tasks with a detach clause whose taskgroup is cancelled: their events are fulfilled, by a thread from outside, while
 * members discard them. Where a tool watched, it was told of tasks that were gone; and where the members were threads
 * of the program outside any region, their teams were looked at when they had ended. */
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

/* Outside any region, on a thread that ends when all are discarded. The first event to be fulfilled, of a task whose
 * body has run, makes the others ready. */
static void* cancel_and_end(void* argument) {
  struct events* const events = argument;
  int ran = 0, gate = 0;
#pragma omp taskgroup
  {
    omp_event_handle_t first;
#pragma omp task detach(first) depend(out : gate) shared(gate)
    check_store(&gate, 1);
    events->list[TASKS - 1] = first;
    for (int i = 0; i < TASKS - 1; ++i) {
      omp_event_handle_t event;
#pragma omp task detach(event) depend(in : gate) shared(ran)
      check_add(&ran, 1);
      events->list[i] = event;
    }
#pragma omp task
    {
#pragma omp cancel taskgroup
    } check_store(&events->cancelled, 1);
  }
  CHECK_EQ(gate, 1);
  CHECK_EQ(ran, 0);
  return NULL;
}

static void discarded_by_thread_that_ends(void) {
  struct events events = {.cancelled = 0};
  pthread_t thread, fulfiller;
  if (pthread_create(&fulfiller, NULL, fulfil_all, &events) != 0) abort();
  if (pthread_create(&thread, NULL, cancel_and_end, &events) != 0) abort();
  pthread_join(thread, NULL);
  pthread_join(fulfiller, NULL);
}

static void body(void) {
  for (int round = 0; round < CHECK_SCALE(20); ++round) discarded_by_thread_that_ends();
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
