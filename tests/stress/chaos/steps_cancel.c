// Cancellation.
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "where.h"

void cancel_for(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 20 + below(step->seed, 1, 40), last = below(step->seed, 2, 20);
#pragma omp for schedule(dynamic)
  for (int i = 0; i < n; i++) {
    atomic_fetch_add(&step->sum, 1);
    if (i == last) {
      atomic_fetch_add(&step->asked, 1);
#pragma omp cancel for
    }
    if (i % 4 == 0) do_a_bit(mix(step->seed, (uint64_t)i));
#pragma omp cancellation point for
  }
#pragma omp barrier
  const long done = atomic_load(&step->sum);
  CHECK(atomic_load(&step->asked) == 1 && done > last && done <= n, "%ld iterations of a cancelled loop of %d", done,
        n);
}

void cancel_parallel(struct Team* team, struct Step* step, int me) {
  (void)team;
  atomic_int came = 0, ended = 0;
  const int members = 1 + below(step->seed, 1, 5), who = below(step->seed, 2, members);
#pragma omp parallel num_threads(members) shared(came, ended)
  {
    atomic_fetch_add(&came, 1);
    do_a_bit(mix(step->seed, (uint64_t)(me * 10 + omp_get_thread_num())));
#pragma omp cancel parallel if (omp_get_thread_num() == who)
#pragma omp barrier
    atomic_fetch_add(&ended, 1);
  }
  CHECK_EQUAL(atomic_load(&came), members, "members of a cancelled region");
  CHECK_EQUAL(atomic_load(&ended), 0, "members that got through a barrier of a cancelled region");
}

void cancel_taskgroup(struct Team* team, struct Step* step, int me) {
  (void)team;
  atomic_int done = 0;
#pragma omp taskgroup
  for (int i = 0; i < 10; i++) {
#pragma omp task shared(done)
    {
      if (i == 3) {
#pragma omp cancel taskgroup
      }
      do_a_bit(mix(step->seed, (uint64_t)(me * 10 + i)));
      atomic_fetch_add(&done, 1);
    }
  }
  CHECK(atomic_load(&done) < 10, "all tasks of a cancelled group were run");
}
