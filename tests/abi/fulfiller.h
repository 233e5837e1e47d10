/* A thread that has never had to do with OpenMP fulfils the event of a detached task. */
#ifndef WEFT_TESTS_ABI_FULFILLER_H
#define WEFT_TESTS_ABI_FULFILLER_H

#include <pthread.h>
#include <unistd.h>

#include "check.h"

struct fulfiller {
  omp_event_handle_t event;
  int* value;
  useconds_t pause;
};

static void* fulfil(void* argument) {
  struct fulfiller* const self = argument;
  if (self->pause != 0) usleep(self->pause);
  check_add(self->value, 1);
  omp_fulfill_event(self->event);
  free(self);
  return NULL;
}

/* It adds 1 to the value before, after so many microseconds. */
static void start_fulfiller(omp_event_handle_t event, int* value, useconds_t pause) {
  struct fulfiller* const self = malloc(sizeof *self);
  pthread_t thread;
  self->event = event;
  self->value = value;
  self->pause = pause;
  if (pthread_create(&thread, NULL, fulfil, self) != 0) abort();
  pthread_detach(thread);
}

#endif
