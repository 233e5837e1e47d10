#include "roots.h"

#include "belongings.h"
#include "kinds.h"
#include "random.h"
#include "team.h"
#include "threads.h"
#include "where.h"

static int number_of_rounds;
static struct Meeting meetings[most_rounds];

static uint64_t root_seed(int root, int round) { return mix(mix(seed_of_run, 1000 + (uint64_t)root), (uint64_t)round); }

static int root_members(int root, int round) {
  const int members = 1 + below(root_seed(root, round), 9, most_members);
  return members < settings.members ? members : settings.members;
}

static void plan_meetings(int roots) {
  for (int round = 0; round < number_of_rounds; round++) {
    if (!prepare_meeting(&meetings[round], round, roots)) continue;
    for (int i = 0; i < roots; i++) meetings[round].expected += root_members(i, round);
  }
}

static void* detached_root(void* argument) {
  small_root(argument);
  free(argument);
  return NULL;
}

static void start_detached_root(const uint64_t seed_and_depth[2]) {
  uint64_t* copy = malloc(2 * sizeof *copy);
  CHECK(copy != NULL, "malloc");
  memcpy(copy, seed_and_depth, 2 * sizeof *copy);
  pthread_detach(start(detached_root, copy));
}

// In two regions with as many members one after the other, threadprivate variables stay.
static int kept_between;
#pragma omp threadprivate(kept_between)

static void two_regions(int members) {
  step_here = "two_regions";
#pragma omp parallel num_threads(members)
  kept_between = 10 + omp_get_thread_num();
#pragma omp parallel num_threads(members)
  {
    CHECK_EQUAL(kept_between, 10 + omp_get_thread_num(), "threadprivate variable of the region before");
#pragma omp barrier
    CHECK_EQUAL(kept_between, 10 + omp_get_thread_num(), "the same behind a barrier");
  }
  step_here = "none";
}

static void go_through_round(int number, int round) {
  const uint64_t seed = root_seed(number, round);
  pthread_t brief = {0};
  uint64_t seed_and_depth[2] = {mix(seed, 60), 2};
  const int starts = !only_some && below(seed, 61, 4) == 0;
  if (starts) brief = start(small_root, seed_and_depth);
  if (!only_some && below(seed, 62, 8) == 0) start_detached_root(seed_and_depth);
  if (below(seed, 63, 3) == 0) two_regions(root_members(number, round));
  run_team(seed, root_members(number, round), 1, meetings[round].expected ? &meetings[round] : NULL);
  if (starts) pthread_join(brief, NULL);
}

static void go_through_rounds(int number) {
  own = 100000 + number;
  for (int round = 0; round < number_of_rounds; round++) {
    go_through_round(number, round);
    CHECK_EQUAL(own, 100000 + number, "thread-local variable of a root");
  }
}

static void* root(void* number) {
  go_through_rounds((int)(intptr_t)number);
  thread_ends();
  return NULL;
}

void run_roots(int roots, int rounds) {
  number_of_rounds = rounds;
  plan_meetings(roots);
  pthread_t threads[most_roots];
  for (int i = 1; i < roots; i++) threads[i] = start(root, (void*)(intptr_t)i);
  go_through_rounds(0);
  for (int i = 1; i < roots; i++) pthread_join(threads[i], NULL);
  wait_for_threads();
}
