// One thing that all members of a team do with each other, and what they need for it, made afresh.
#ifndef WEFT_TESTS_STRESS_CHAOS_STEP_H
#define WEFT_TESTS_STRESS_CHAOS_STEP_H

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

enum { cells = 64 };

enum Class {
  of_spin = 1,     // spins for another member
  of_kernel = 2,   // sleeps in the kernel for another member
  of_yield = 4,    // calls sched_yield() for another member
  of_threads = 8,  // makes threads
  of_fork = 16,
  of_nest = 32,
  of_tasks = 64,
  of_loops = 128,
  of_cancel = 256,
  of_plain = 512,
};

struct Team;
struct Step;
typedef void StepFunction(struct Team*, struct Step*, int me);

struct Kind {
  const char* name;
  StepFunction* run;
  int classes;
  int weight;  // how often it is drawn
};

struct Step {
  const struct Kind* kind;  // NULL: nothing is done
  uint64_t seed;
  atomic_int arrived;
  atomic_int asked;
  atomic_int answered;
  atomic_long sum;
  long plain;
  long data[cells];
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  pthread_rwlock_t rwlock;
  sem_t semaphore;
  omp_lock_t lock;
  omp_nest_lock_t nest_lock;
  int ends[2];  // of a pipe, for through_pipe
};

void prepare_step(struct Step* step, const struct Kind* kind, uint64_t seed, int members);
void finish_step(struct Step* step);

static inline long sum_below(int n) { return (long)n * (n - 1) / 2; }

// By all members, that have added to step->sum: waits for the others at a barrier.
void check_sum(struct Step* step, long expected);

#endif
