/* A unit that comes back on the KLT that it holds, where the process can have no further thread, and all others wait
 * for the unit: nothing that it needs may be what they have.
 *
 *   klt_return own       they have all identities; it comes back where it was left
 *   klt_return identity  the same; it comes back to a root that has none
 *   klt_return klt       the free KLTs are another root's, which does not wait in weft */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/sync.h>
#include <weft/weft.h>

enum { WAITERS = 40, SECONDS = 100 };

static atomic_int refuses;
static atomic_int calls;
static atomic_int begun;
static atomic_int done;
static sem_t call_may_end;
static weft_mutex mutex;
static __thread int mine;
static const char* mode;

static void fail(const char* what) {
  fprintf(stderr, "klt_return %s: %s\n", mode, what);
  _exit(1);
}

static void on_alarm(int number) {
  (void)number;
  fail("the unit does not come back");
}

/* In the place of libc's. */
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*), void* argument) {
  if (refuses) return EAGAIN;
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  *(void**)&create = dlsym(RTLD_NEXT, "pthread_create");
  return create(thread, attributes, entry, argument);
}

static weft_unit* create(void (*entry)(void*)) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.flags = WEFT_OWN_TLS;
  weft_unit* unit = NULL;
  if (weft_unit_create(entry, NULL, &attr, &unit) != WEFT_OK) fail("weft_unit_create");
  return unit;
}

static void end(weft_unit* unit) {
  if (weft_unit_join(unit) != WEFT_OK || weft_unit_free(unit) != WEFT_OK) fail("weft_unit_join");
}

static void wait_in_call(void* nothing) {
  (void)nothing;
  calls++;
  while (sem_wait(&call_may_end) != 0) {
  }
}

static void hold_and_block(void* nothing) {
  (void)nothing;
  mine = 1;
  weft_mutex_lock(&mutex);
  if (weft_blocking(wait_in_call, NULL) != WEFT_OK) fail("weft_blocking");
  if (mine != 1) fail("the unit's thread-local storage is another");
  weft_mutex_unlock(&mutex);
  done++;
}

static void wait_for_it(void* nothing) {
  (void)nothing;
  begun++;
  weft_mutex_lock(&mutex);
  weft_mutex_unlock(&mutex);
  done++;
}

static void do_nothing(void* nothing) { (void)nothing; }

static weft_unit* holder;
static weft_unit* waiters[WAITERS];
static sem_t prepared;
static sem_t over;

static void prepare(void) {
  holder = create(hold_and_block);
  while (calls == 0) weft_yield();
  end(create(do_nothing));
  refuses = 1;
  if (strcmp(mode, "klt") == 0) return;
  for (int i = 0; i < WAITERS; i++) waiters[i] = create(wait_for_it);
  while (begun != WAITERS) weft_yield();
}

static void* other_root(void* nothing) {
  prepare();
  sem_post(&prepared);
  while (sem_wait(&over) != 0) {
  }
  return nothing;
}

int main(int count, char** arguments) {
  mode = count == 2 ? arguments[1] : "";
  signal(SIGALRM, on_alarm);
  alarm(SECONDS);
  if (weft_init() != WEFT_OK || weft_mutex_init(&mutex, WEFT_MUTEX_PLAIN) != WEFT_OK) fail("weft_init");
  sem_init(&call_may_end, 0, 0);
  sem_init(&prepared, 0, 0);
  sem_init(&over, 0, 0);
  pthread_t other;
  const int is_other = strcmp(mode, "own") != 0;
  if (!is_other) {
    prepare();
  } else {
    if (strcmp(mode, "klt") == 0) end(create(do_nothing));
    if (pthread_create(&other, NULL, other_root, NULL) != 0) fail("pthread_create");
    while (sem_wait(&prepared) != 0) {
    }
  }
  sem_post(&call_may_end);
  end(holder);
  for (int i = 0; i < WAITERS && waiters[i] != NULL; i++) end(waiters[i]);
  if (is_other) {
    sem_post(&over);
    pthread_join(other, NULL);
  }
  printf("%d\n", done);
  return 0;
}
