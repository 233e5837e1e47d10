// Worksharing loops, and sections.
#include "bits.h"
#include "random.h"
#include "steps.h"
#include "where.h"

static void iteration(struct Step* step, int i) {
  atomic_fetch_add(&step->sum, i);
  if (i % 4 == 0) do_a_bit(mix(step->seed, (uint64_t)i));
}

void loop_static(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, 60), chunk = 1 + below(step->seed, 2, 5);
#pragma omp for schedule(static, chunk) nowait
  for (int i = 0; i < n; i++) iteration(step, i);
  check_sum(step, sum_below(n));
}

void loop_dynamic(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, 60), chunk = 1 + below(step->seed, 2, 5);
#pragma omp for schedule(dynamic, chunk) nowait
  for (int i = 0; i < n; i++) iteration(step, i);
  check_sum(step, sum_below(n));
}

void loop_guided(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, 60);
#pragma omp for schedule(guided)
  for (int i = 0; i < n; i++) iteration(step, i);
  CHECK_EQUAL(atomic_load(&step->sum), sum_below(n), "sum");
}

// Many loops without a wait in between: members are in different ones.
void loops_nowait(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int loops = 2 + below(step->seed, 1, 12), n = 1 + below(step->seed, 2, 9);
  for (int l = 0; l < loops; l++) {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < n; i++) iteration(step, i);
  }
  check_sum(step, loops * sum_below(n));
}

void loop_ordered(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, 30);
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0) do_a_bit(mix(step->seed, (uint64_t)i));
#pragma omp ordered
    {
      CHECK_EQUAL(step->plain, i, "iterations before");
      step->plain++;
    }
  }
  CHECK_EQUAL(step->plain, n, "ordered iterations");
}

void loop_doacross(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  const int n = 1 + below(step->seed, 1, cells - 1);
#pragma omp for ordered(1) schedule(dynamic)
  for (int i = 0; i < n; i++) {
    if (i % 5 == 0) do_a_bit(mix(step->seed, (uint64_t)i));
#pragma omp ordered depend(sink : i - 1)
    step->data[i] = (i ? step->data[i - 1] : 0) + i;
#pragma omp ordered depend(source)
  }
  CHECK_EQUAL(step->data[n - 1], sum_below(n), "doacross sum");
}

void reductions(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
  long* data = step->data;
  const int n = 1 + below(step->seed, 1, 100);
#pragma omp for reduction(+ : data[:4]) schedule(dynamic, 3)
  for (int i = 0; i < n; i++) data[i % 4] += i;
  CHECK_EQUAL(data[0] + data[1] + data[2] + data[3], sum_below(n), "reduced sum");
}

void in_sections(struct Team* team, struct Step* step, int me) {
  (void)team, (void)me;
#pragma omp sections
  {
#pragma omp section
    iteration(step, 1);
#pragma omp section
    iteration(step, 4);
#pragma omp section
    iteration(step, 8);
#pragma omp section
    iteration(step, 16);
  }
  CHECK_EQUAL(atomic_load(&step->sum), 29, "sum of sections");
}
