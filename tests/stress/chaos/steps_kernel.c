// What the kernel or libc has for threads to wait with: pthread objects, semaphores, pipes.
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "team.h"
#include "where.h"

#include <sched.h>

// Of the whole program.
static pthread_mutex_t common_mutex = PTHREAD_MUTEX_INITIALIZER;
static int common_count;
static atomic_int common_expected;

void check_common_count(void) {
  CHECK_EQUAL(common_count, atomic_load(&common_expected), "count under the common mutex");
}

void barrier_pthread(struct Team* team, struct Step* step, int me) {
  (void)me, (void)team;
  for (int i = 0; i < 1 + below(step->seed, 1, 4); i++) pthread_barrier_wait(&step->barrier);
}

void barrier_condition(struct Team* team, struct Step* step, int me) {
  (void)me;
  for (int i = 1; i <= 1 + below(step->seed, 1, 4); i++) {
    pthread_mutex_lock(&step->mutex);
    step->plain++;
    pthread_cond_broadcast(&step->condition);
    while (step->plain < i * team->members) pthread_cond_wait(&step->condition, &step->mutex);
    pthread_mutex_unlock(&step->mutex);
  }
}

void turns(struct Team* team, struct Step* step, int me) {
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&step->mutex);
    while (step->plain % team->members != me) pthread_cond_wait(&step->condition, &step->mutex);
    step->plain++;
    pthread_cond_broadcast(&step->condition);
    pthread_mutex_unlock(&step->mutex);
  }
}

void mutex_short(struct Team* team, struct Step* step, int me) {
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&step->mutex);
    step->plain++;
    if ((i + me) % 5 == 0) sleep_seconds(30e-6);
    pthread_mutex_unlock(&step->mutex);
  }
#pragma omp barrier
  CHECK_EQUAL(step->plain, 3 * team->members, "count under a mutex");
}

// The holder lets others run, who may want it.
void mutex_yielding(struct Team* team, struct Step* step, int me) {
  (void)me;
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&step->mutex);
    step->plain++;
    sched_yield();
    pthread_mutex_unlock(&step->mutex);
  }
#pragma omp barrier
  CHECK_EQUAL(step->plain, 2 * team->members, "count under a mutex");
}

void mutex_across(struct Team* team, struct Step* step, int me) {
  const int holder = below(step->seed, 1, team->members);
  if (me == holder) pthread_mutex_lock(&step->mutex);
#pragma omp barrier
  if (me != holder) pthread_mutex_lock(&step->mutex);
  step->plain++;
  pthread_mutex_unlock(&step->mutex);
#pragma omp barrier
  CHECK_EQUAL(step->plain, team->members, "members that had the mutex");
}

// The same with a mutex that members of other teams want too. Nobody of this team wants it before all are here.
void common_mutex_across(struct Team* team, struct Step* step, int me) {
  const int holder = below(step->seed, 1, team->members);
  atomic_fetch_add(&common_expected, 1);
#pragma omp barrier
  if (me == holder) pthread_mutex_lock(&common_mutex);
#pragma omp barrier
  if (me != holder) pthread_mutex_lock(&common_mutex);
  common_count++;
  pthread_mutex_unlock(&common_mutex);
}

void common_mutex_short(struct Team* team, struct Step* step, int me) {
  (void)team, (void)step, (void)me;
  atomic_fetch_add(&common_expected, 1);
  pthread_mutex_lock(&common_mutex);
  common_count++;
  pthread_mutex_unlock(&common_mutex);
}

void rwlock_across(struct Team* team, struct Step* step, int me) {
  const int writer = below(step->seed, 1, team->members);
  if (me == writer) pthread_rwlock_wrlock(&step->rwlock);
#pragma omp barrier
  if (me == writer) {
    step->plain = 5;
    do_a_bit(step->seed);
  } else {
    pthread_rwlock_rdlock(&step->rwlock);
    CHECK_EQUAL(step->plain, 5, "what was written");
  }
  pthread_rwlock_unlock(&step->rwlock);
}

void spin_lock_across(struct Team* team, struct Step* step, int me) {
  const int holder = below(step->seed, 1, team->members);
  if (me == holder) pthread_spin_lock(&step->spin);
#pragma omp barrier
  if (me != holder) {
    while (pthread_spin_trylock(&step->spin) != 0) sched_yield();
  }
  step->plain++;
  pthread_spin_unlock(&step->spin);
#pragma omp barrier
  CHECK_EQUAL(step->plain, team->members, "members that had the lock");
}

void semaphore(struct Team* team, struct Step* step, int me) {
  if (me == below(step->seed, 1, team->members)) {
    do_a_bit(step->seed);
    for (int i = 1; i < team->members; i++) sem_post(&step->semaphore);
  } else {
    while (sem_wait(&step->semaphore) != 0) CHECK_EQUAL(errno, EINTR, "errno of sem_wait");
  }
}

void through_pipe(struct Team* team, struct Step* step, int me) {
  char byte = 'x';
  if (me == below(step->seed, 1, team->members)) {
    for (int i = 1; i < team->members; i++) CHECK_EQUAL(write(step->ends[1], &byte, 1), 1, "write");
  } else {
    ssize_t got;
    do got = read(step->ends[0], &byte, 1);
    while (got < 0 && errno == EINTR);
    CHECK(got == 1 && byte == 'x', "read: %s", strerror(errno));
  }
}
