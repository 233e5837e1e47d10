// Threads that members make, and wait for.
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "team.h"
#include "threads.h"
#include "wait.h"
#include "where.h"

void makes_thread(struct Team* team, struct Step* step, int me) {
  if (below(step->seed, me, 3) != 0) return;
  uint64_t argument[2] = {mix(step->seed, (uint64_t)me), (uint64_t)team->depth + 1};
  const pthread_t thread = start(small_root, argument);
  if (below(step->seed, me + 50, 2)) do_a_bit(argument[0]);
  pthread_join(thread, NULL);
}

// All members wait for a thread, which waits for all members.
struct Question {
  struct Step* step;
  int members;
  enum Way way;
};

static void* answer(void* argument) {
  const struct Question* question = argument;
  wait_for(&question->step->asked, question->members, question->way);
  atomic_store(&question->step->answered, 1);
  thread_ends();
  return NULL;
}

static void answers(struct Team* team, struct Step* step, int me, enum Way way) {
  struct Question question = {step, team->members, below(step->seed, 1, 2) ? yielding : sleeping};
  pthread_t thread = {0};
  if (me == 0) thread = start(answer, &question);
  atomic_fetch_add(&step->asked, 1);
  wait_for(&step->answered, 1, way);
  if (me == 0) pthread_join(thread, NULL);
}

void answers_yielding(struct Team* t, struct Step* s, int me) { answers(t, s, me, yielding); }

void answers_sleeping(struct Team* t, struct Step* s, int me) { answers(t, s, me, sleeping); }
