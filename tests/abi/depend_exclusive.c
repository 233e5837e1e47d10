/* mutexinoutset of tasks that run where they are created, and of target: the compilers have their creator wait for what
 * comes before, and then run the code that is to be alone. */
#include <unistd.h>

#include "check.h"

struct state {
  int begun, inside, overlaps, done;
};

/* Long enough for another task to come in, if it may. */
static void alone(struct state* state) {
  if (check_add(&state->inside, 1) != 1) check_add(&state->overlaps, 1);
  check_store(&state->begun, 1);
  usleep(500);
  check_add(&state->inside, -1);
  check_add(&state->done, 1);
}

/* The first exclusive task is made ready by one that waits, though not for long, until the second has begun. */
static void create_first(struct state* state, int* exclusive, int* other) {
  (void)exclusive, (void)other; /* only their addresses matter */
  check_store(&state->begun, 0);
#pragma omp task depend(out : *other)
  {
    for (int i = 0; i < 10 && check_load(&state->begun) == 0; ++i) usleep(100);
  }
#pragma omp task depend(in : *other) depend(mutexinoutset : *exclusive)
  alone(state);
}

static void body(void) {
  struct state state = {0, 0, 0, 0};
  int exclusive = 0, other = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int round = 0; round < 5; ++round) {
    create_first(&state, &exclusive, &other);
#pragma omp task if (0) depend(mutexinoutset : exclusive) shared(state)
    alone(&state);
#pragma omp taskwait
    create_first(&state, &exclusive, &other);
#pragma omp target depend(mutexinoutset : exclusive) map(tofrom : state)
    alone(&state);
#pragma omp taskwait
  }
  CHECK_EQ(state.overlaps, 0);
  CHECK_EQ(state.done, 20);
}

CHECK_MAIN(body)
