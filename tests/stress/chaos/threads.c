#include "threads.h"

#include "where.h"

#include <stdatomic.h>

static atomic_int threads_ended;
static atomic_int threads_made;

pthread_t start(void* (*function)(void*), void* argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, function, argument);
  CHECK(error == 0, "pthread_create: %s", strerror(error));
  atomic_fetch_add(&threads_made, 1);
  return thread;
}

void thread_ends(void) { atomic_fetch_add(&threads_ended, 1); }

void wait_for_threads(void) {
  // Read anew each time: those that are waited for make others.
  while (atomic_load(&threads_ended) < atomic_load(&threads_made)) sleep_seconds(50e-6);
}
