/* Outside of regions, a task that depends on a detached one is run when its thread ends at the latest, or when the
 * process ends: its creator may have nothing to do with tasks any more once the event is fulfilled. */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

static void* fulfil(void* event) {
  usleep(500);
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  return NULL;
}

/* When it returns, the event is fulfilled. */
static void create(void (*last)(int*), int* value) {
  int order = 0;
  (void)order; /* only its address matters */
  pthread_t thread;
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task detach(event) depend(out : order) shared(thread)
  if (pthread_create(&thread, NULL, fulfil, (void*)(uintptr_t)event) != 0) abort();
#pragma omp task depend(in : order) firstprivate(last, value)
  last(value);
  pthread_join(thread, NULL);
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
