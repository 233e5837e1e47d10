// Barriers and flags of the program's own: waits on memory that OpenMP knows nothing of.
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "team.h"
#include "wait.h"
#include "where.h"

static void meet(struct Team* team, struct Step* step, int round, enum Way way) {
  atomic_fetch_add(&step->arrived, 1);
  wait_for(&step->arrived, team->members * round, way);
}

static void barriers(struct Team* team, struct Step* step, int me, enum Way way, int rounds) {
  for (int i = 1; i <= rounds; i++) {
    errno = 2000 + me;
    meet(team, step, i, way);
    CHECK_EQUAL(errno, 2000 + me, "errno");
  }
}

void barrier_spinning(struct Team* t, struct Step* s, int me) {
  barriers(t, s, me, t->level == 1 ? spinning : yielding, 1);
}

void barrier_pausing(struct Team* t, struct Step* s, int me) {
  barriers(t, s, me, t->level == 1 ? pausing : yielding, 2);
}

void barrier_yielding(struct Team* t, struct Step* s, int me) {
  barriers(t, s, me, yielding, 1 + below(s->seed, 1, 10));
}

void barrier_sleeping(struct Team* t, struct Step* s, int me) {
  barriers(t, s, me, sleeping, 1 + below(s->seed, 1, 4));
}

void barrier_mixed(struct Team* team, struct Step* step, int me) {
  for (int i = 1; i <= 2; i++) {
    const enum Way way = (enum Way)below(step->seed, me + i * 20, ways);
    meet(team, step, i, way == spinning && me > 2 ? sleeping : way);
  }
}

void barrier_yielding_or_omp(struct Team* team, struct Step* step, int me) {
  for (int i = 1; i <= 3; i++) {
    meet(team, step, i, yielding);
#pragma omp barrier
    if ((me + i) % 3 == 0) do_a_bit(mix(step->seed, (uint64_t)(me + i)));
  }
}

// Each waits for the one behind it, which a runtime starts later.
static void flags(struct Team* team, struct Step* step, int me, enum Way way) {
  atomic_int* turn = &step->arrived;
  wait_for(turn, team->members - 1 - me, way);
  CHECK_EQUAL(atomic_fetch_add(turn, 1), team->members - 1 - me, "turn");
}

void flags_yielding(struct Team* t, struct Step* s, int me) { flags(t, s, me, yielding); }

void flags_sleeping(struct Team* t, struct Step* s, int me) { flags(t, s, me, sleeping); }

void flags_spinning(struct Team* t, struct Step* s, int me) {
  flags(t, s, me, t->level == 1 && t->members <= 6 ? spinning : yielding);
}
