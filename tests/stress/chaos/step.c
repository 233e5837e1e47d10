#include "step.h"

#include "steps.h"
#include "where.h"

static int has_pipe(const struct Step* step) { return step->kind && step->kind->run == through_pipe; }

void prepare_step(struct Step* step, const struct Kind* kind, uint64_t seed, int members) {
  memset(step, 0, sizeof *step);
  step->kind = kind;
  step->seed = seed;
  pthread_mutex_init(&step->mutex, NULL);
  pthread_cond_init(&step->condition, NULL);
  pthread_barrier_init(&step->barrier, NULL, (unsigned)members);
  pthread_spin_init(&step->spin, PTHREAD_PROCESS_PRIVATE);
  pthread_rwlock_init(&step->rwlock, NULL);
  sem_init(&step->semaphore, 0, 0);
  omp_init_lock(&step->lock);
  omp_init_nest_lock(&step->nest_lock);
  if (has_pipe(step)) CHECK(pipe(step->ends) == 0, "pipe: %s", strerror(errno));
}

void finish_step(struct Step* step) {
  pthread_mutex_destroy(&step->mutex);
  pthread_cond_destroy(&step->condition);
  pthread_barrier_destroy(&step->barrier);
  pthread_spin_destroy(&step->spin);
  pthread_rwlock_destroy(&step->rwlock);
  sem_destroy(&step->semaphore);
  omp_destroy_lock(&step->lock);
  omp_destroy_nest_lock(&step->nest_lock);
  if (has_pipe(step)) {
    close(step->ends[0]);
    close(step->ends[1]);
  }
}

void check_sum(struct Step* step, long expected) {
#pragma omp barrier
  CHECK_EQUAL(atomic_load(&step->sum), expected, "sum");
}
