// Inner regions.
#include "random.h"
#include "steps.h"
#include "team.h"
#include "where.h"

void nested(struct Team* team, struct Step* step, int me) {
  run_team(mix(step->seed, (uint64_t)me), 1 + below(step->seed, me, 5), team->depth + 1, NULL);
}

void nested_by_one(struct Team* team, struct Step* step, int me) {
  if (me != below(step->seed, 1, team->members)) return;
  run_team(mix(step->seed, 7), 1 + below(step->seed, 2, settings.members), team->depth + 1, NULL);
}

void nested_reductions(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  for (int i = 0; i < 3; i++) {
    long sum = 0;
    const int n = 50;
#pragma omp parallel for num_threads(1 + below(step->seed, me + i, 4)) reduction(+ : sum) schedule(dynamic, 5)
    for (int j = 0; j < n; j++) sum += j;
    CHECK_EQUAL(sum, sum_below(n), "sum of an inner region");
  }
}

void nested_under_lock(struct Team* team, struct Step* step, int me) {
  omp_set_lock(&step->lock);
  run_team(mix(step->seed, (uint64_t)me), 1 + below(step->seed, me, 3), team->depth + 1, NULL);
  step->plain++;
  omp_unset_lock(&step->lock);
#pragma omp barrier
  CHECK_EQUAL(step->plain, team->members, "members that had the lock");
}

void nested_under_mutex(struct Team* team, struct Step* step, int me) {
  pthread_mutex_lock(&step->mutex);
  run_team(mix(step->seed, (uint64_t)me), 1 + below(step->seed, me, 3), team->depth + 1, NULL);
  step->plain++;
  pthread_mutex_unlock(&step->mutex);
#pragma omp barrier
  CHECK_EQUAL(step->plain, team->members, "members that had the mutex");
}
