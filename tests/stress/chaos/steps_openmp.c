// Steps of OpenMP alone: barriers, single, critical sections and locks; and work that needs nobody else.
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "team.h"
#include "where.h"

#include <sched.h>

void omp_barriers(struct Team* team, struct Step* step, int me) {
  for (int i = 1; i <= 1 + below(step->seed, 1, 4); i++) {
    errno = 1000 + me;
    atomic_fetch_add(&step->arrived, 1);
#pragma omp barrier
    CHECK(atomic_load(&step->arrived) >= team->members * i, "too few at a barrier");
    CHECK_EQUAL(errno, 1000 + me, "errno");
  }
}

void single_copy(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  for (int i = 0; i < 1 + below(step->seed, 1, 4); i++) {
    long value = -1;
#pragma omp single copyprivate(value)
    {
      do_a_bit(mix(step->seed, (uint64_t)i));
      value = i * 7;
      step->plain++;
    }
    CHECK_EQUAL(value, i * 7, "copyprivate value");
#pragma omp single nowait
    atomic_fetch_add(&step->sum, 1);
  }
  check_sum(step, 1 + below(step->seed, 1, 4));
  CHECK_EQUAL(step->plain, 1 + below(step->seed, 1, 4), "singles");
}

void criticals(struct Team* team, struct Step* step, int me) {
  for (int i = 0; i < 5; i++) {
    count_in_critical();
#pragma omp critical(slow)
    {
      step->plain++;
      if ((i + me) % 3 == 0) sched_yield();
    }
  }
  atomic_fetch_add(&step->sum, 5);
  check_sum(step, 5 * team->members);
#pragma omp critical(slow)
  CHECK_EQUAL(step->plain, 5 * team->members, "count in a critical section");
}

// A lock of OpenMP's that is held across a barrier, and wanted behind it.
void omp_lock_across(struct Team* team, struct Step* step, int me) {
  const int holder = below(step->seed, 1, team->members);
  if (me == holder) omp_set_lock(&step->lock);
#pragma omp barrier
  if (me != holder) omp_set_lock(&step->lock);
  step->plain++;
  do_a_bit(mix(step->seed, (uint64_t)me));
  omp_unset_lock(&step->lock);
#pragma omp barrier
  CHECK_EQUAL(step->plain, team->members, "members that had the lock");
}

void nest_locks(struct Team* team, struct Step* step, int me) {
  for (int i = 0; i < 3; i++) {
    omp_set_nest_lock(&step->nest_lock);
    CHECK_EQUAL(omp_test_nest_lock(&step->nest_lock), 2, "nesting count");
    step->plain++;
    if ((me + i) % 4 == 0) sched_yield();
    omp_unset_nest_lock(&step->nest_lock);
    omp_unset_nest_lock(&step->nest_lock);
  }
#pragma omp barrier
  CHECK_EQUAL(step->plain, 3 * team->members, "count under a nestable lock");
}

void allocations(struct Team* team, struct Step* step, int me) {
  (void)team;
  for (int i = 0; i < 5; i++) allocate(mix(step->seed, (uint64_t)(i * 100 + me)));
}

void bits(struct Team* team, struct Step* step, int me) {
  (void)team;
  for (int i = 0; i < 3; i++) do_a_bit(mix(step->seed, (uint64_t)(i * 100 + me)));
}

// What is freed by another member than had it from malloc.
void hand_over_blocks(struct Team* team, struct Step* step, int me) {
  int* block = malloc(100 + (size_t)me);
  CHECK(block != NULL, "malloc");
  *block = me;
  step->data[me] = (long)(intptr_t)block;
#pragma omp barrier
  int* other = (int*)(intptr_t)step->data[(me + 1) % team->members];
  CHECK_EQUAL(*other, (me + 1) % team->members, "contents of another member's block");
  free(other);
}
