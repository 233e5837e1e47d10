// Tasks.
#include "belongings.h"
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "team.h"
#include "wait.h"
#include "where.h"

#include <sched.h>

static long fibonacci(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

void tasks_fibonacci(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
#pragma omp single nowait
  step->plain = fibonacci(8);
#pragma omp barrier
  CHECK_EQUAL(step->plain, 21, "fibonacci of 8");
}

void tasks_chain(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, 20);
#pragma omp single
  {
    long* x = step->data;
    for (int i = 0; i < n; i++) {
#pragma omp task depend(inout : x[0])
      {
        do_a_bit(mix(step->seed, (uint64_t)i));
        x[0] = x[0] * 3 + i;
      }
#pragma omp task depend(in : x[0]) depend(out : x[1 + i])
      x[1 + i] = x[0];
    }
#pragma omp taskwait
    long expected = 0;
    for (int i = 0; i < n; i++) {
      expected = expected * 3 + i;
      CHECK_EQUAL(x[1 + i], expected, "value along a chain of tasks");
    }
  }
}

void tasks_mutex(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  long* x = step->data;
#pragma omp single
  {
#pragma omp task depend(out : x[0])
    x[0] = 100;
    for (int i = 0; i < 8; i++) {
#pragma omp task depend(mutexinoutset : x[0])
      {
        const long before = x[0];
        do_a_bit(mix(step->seed, (uint64_t)i));
        x[0] = before + 1;
      }
    }
#pragma omp task depend(in : x[0])
    x[1] = x[0];
  }
  CHECK_EQUAL(x[1], 108, "sum of exclusive tasks");
}

void tasks_group(struct Team* team, struct Step* step, int me) {
  const int n = 1 + below(step->seed, 1, 10);
  atomic_int done = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < n; i++) {
#pragma omp task shared(done)
      {
#pragma omp task shared(done)
        {
          do_a_bit(mix(step->seed, (uint64_t)(i * 50 + me)));
          atomic_fetch_add(&done, 1);
        }
#pragma omp taskyield
        atomic_fetch_add(&done, 1);
      }
    }
  }
  CHECK_EQUAL(atomic_load(&done), 2 * n, "tasks of a group");
  (void)team;
}

void tasks_loop(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, 80);
  long sum = 0;
#pragma omp taskloop grainsize(3) reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    if (i % 9 == 0) do_a_bit(mix(step->seed, (uint64_t)i));
    sum += i;
  }
  CHECK_EQUAL(sum, sum_below(n), "sum of a taskloop");
}

// Fulfilled by another member, or by the one that waits for the task.
void tasks_detached(struct Team* team, struct Step* step, int me) {
  (void)me, (void)team;
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event)
    atomic_fetch_add(&step->sum, 1);
#pragma omp task firstprivate(event)
    {
      do_a_bit(step->seed);
      atomic_fetch_add(&step->sum, 1);
      omp_fulfill_event(event);
    }
#pragma omp taskwait
    CHECK_EQUAL(atomic_load(&step->sum), 2, "tasks, one detached");
  }
}

void tasks_keep_their_thread(struct Team* team, struct Step* step, int me) {
  (void)team;
  for (int i = 0; i < 4; i++) {
#pragma omp task
    {
      int* const address = address_of_own();
      const int number = omp_get_thread_num();
      const int value = own;
#pragma omp task
      do_a_bit(mix(step->seed, (uint64_t)(me * 10 + i)));
      if (i % 2) sched_yield();
#pragma omp taskwait
      CHECK(address == address_of_own(), "a tied task has another thread-local variable after a wait");
      CHECK_EQUAL(own, value, "thread-local variable of a tied task");
      CHECK_EQUAL(omp_get_thread_num(), number, "number of the thread of a tied task");
    }
  }
#pragma omp taskwait
}

// Tasks that need all members to have come, but not to wait for the task in another way than by a barrier.
static void tasks_wait(struct Team* team, struct Step* step, enum Way way) {
  if (team->members > 1) {
    // A member that is still in the barrier before could run another's task there, and never come itself.
    atomic_fetch_add(&step->asked, 1);
    wait_for(&step->asked, team->members, way);
#pragma omp task
    {
      wait_for(&step->arrived, team->members, way);
      atomic_fetch_add(&step->sum, 1);
    }
    atomic_fetch_add(&step->arrived, 1);
    check_sum(step, team->members);
  }
}

void tasks_wait_yielding(struct Team* t, struct Step* s, int me) {
  (void)me;
  tasks_wait(t, s, yielding);
}

void tasks_wait_sleeping(struct Team* t, struct Step* s, int me) {
  (void)me;
  tasks_wait(t, s, sleeping);
}

void tasks_open_regions(struct Team* team, struct Step* step, int me) {
  (void)me;
#pragma omp single nowait
  for (int i = 0; i < 3; i++) {
#pragma omp task
    run_team(mix(step->seed, (uint64_t)i), 1 + below(step->seed, i, 4), team->depth + 1, NULL);
  }
#pragma omp barrier
}
