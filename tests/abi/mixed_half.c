/* One half of the mixed test: compiled once by each compiler, with HALF as the name of what it offers. */
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "mixed.h"

static void set_threads(int n) { omp_set_num_threads(n); }
static int max_threads(void) { return omp_get_max_threads(); }
static int level(void) { return omp_get_level(); }
static int ancestor(int at) { return omp_get_ancestor_thread_num(at); }

static void region(int members, void (*f)(void*), void* argument) {
#pragma omp parallel num_threads(members)
  f(argument);
}

static void barrier(void) {
#pragma omp barrier
}

static void loop(int n, int* counts) {
#pragma omp for schedule(dynamic, 3)
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    counts[i]++;
  }
}

static void shares(int n, int* counts) {
#pragma omp for schedule(static)
  for (int i = 0; i < n; ++i) counts[i]++;
}

static int single(void) {
  int mine = 0;
#pragma omp single nowait
  mine = 1;
  return mine;
}

static void tasks(int n, int* count) {
  for (int i = 0; i < n; ++i) {
#pragma omp task firstprivate(count)
    {
#pragma omp atomic
      (*count)++;
    }
  }
}

static void link_next(int i, int* value) {
#pragma omp task firstprivate(value, i) depend(inout : *value)
  *value = *value * 3 + i;
}

static void wait(void) {
#pragma omp taskwait
}

static void included(void (*f)(void*), void* argument) {
#pragma omp task final(1) firstprivate(f, argument)
  {
#pragma omp task firstprivate(f, argument)
    f(argument);
  }
#pragma omp taskwait
}

struct event_to_fulfil {
  omp_event_handle_t event;
  int* value;
};

static void* fulfil_later(void* argument) {
  const struct event_to_fulfil to_fulfil = *(struct event_to_fulfil*)argument;
  free(argument);
  usleep(2000);
  __atomic_store_n(to_fulfil.value, 1, __ATOMIC_RELEASE);
  omp_fulfill_event(to_fulfil.event);
  return NULL;
}

static void detached(int* value) {
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp task if (0) detach(event) firstprivate(value)
  {
    struct event_to_fulfil* to_fulfil = malloc(sizeof *to_fulfil);
    *to_fulfil = (struct event_to_fulfil){event, value};
    pthread_t thread;
    if (pthread_create(&thread, NULL, fulfil_later, to_fulfil) != 0) abort();
    pthread_detach(thread);
  }
}

static void* new_nest_lock(void) {
  omp_nest_lock_t* lock = malloc(sizeof *lock);
  omp_init_nest_lock(lock);
  return lock;
}
static void lock_twice(void* lock) {
  omp_set_nest_lock(lock);
  omp_set_nest_lock(lock);
  omp_unset_nest_lock(lock);
}
static void unlock(void* lock) { omp_unset_nest_lock(lock); }

const struct half HALF = {
#ifdef __clang__
    "clang",
#else
    "gcc",
#endif
    set_threads, max_threads, level, ancestor, region,   barrier,       loop,       shares, single,
    tasks,       link_next,   wait,  included, detached, new_nest_lock, lock_twice, unlock};
