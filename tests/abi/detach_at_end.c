/* Outside of regions, a task that depends on a detached one is run when its thread ends at the latest, or when the
 * process ends: its creator may have nothing to do with tasks any more once the event is fulfilled. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

struct fulfiller {
  omp_event_handle_t event;
  int done;
};

static void* fulfil(void* argument) {
  struct fulfiller* fulfiller = argument;
  usleep(500);
  omp_fulfill_event(fulfiller->event);
  __atomic_store_n(&fulfiller->done, 1, __ATOMIC_RELEASE);
  return NULL;
}

/* Nobody joins the thread: the last task of all may end the process before. */
static void start(struct fulfiller* fulfiller, omp_event_handle_t event) {
  fulfiller->event = event;
  pthread_t thread;
  if (pthread_create(&thread, NULL, fulfil, fulfiller) != 0 || pthread_detach(thread) != 0) abort();
}

/* When it returns, the event is fulfilled. */
static void create(void (*last)(int*), int* value) {
  int order = 0;
  (void)order; /* only its address matters */
  static struct fulfiller fulfillers[11];
  static int used = 0;
  struct fulfiller* fulfiller = &fulfillers[used++];
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : order) firstprivate(fulfiller)
  start(fulfiller, event);
#pragma omp task depend(in : order) firstprivate(last, value)
  last(value);
  while (!__atomic_load_n(&fulfiller->done, __ATOMIC_ACQUIRE)) usleep(100);
}

static void count(int* value) { check_add(value, 1); }
static void succeed(int* failures) { _exit(check_load(failures) != 0); }

static void* create_and_end(void* value) {
  create(count, (int*)value);
  return NULL;
}

int main(void) {
  check_runtime();
  for (int i = 0; i < 10; ++i) {
    int value = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, create_and_end, &value) != 0) abort();
    pthread_join(thread, NULL);
    CHECK_EQ(value, 1);
  }
  create(succeed, &check_failures);
  return 3; /* unless the task is run */
}
