/* A pool of the program's own whose units are preempted by default, and which comes before any preemptive unit: nobody
 * is left in the midst of its functions, where the worker's scheduler would call them once more. (Bug: units were.) */
#include <stdio.h>
#include <weft/weft.h>

enum { PARENTS = 3, CHILDREN = 20, ROUNDS = 1000 * 1000 };

static weft_pool* pool;
static weft_unit* held[PARENTS + PARENTS * CHILDREN];
static size_t count;
static volatile int inside;
static volatile int met; /* calls that came while another was under way */

static void enter(void) {
  if (inside) ++met;
  inside = 1;
}

/* Takes longer than a slice. */
static void push(void* data, weft_unit* unit) {
  (void)data;
  enter();
  for (volatile int round = 0; round < ROUNDS; ++round) continue;
  held[count++] = unit;
  inside = 0;
}

static weft_unit* pop(void* data) {
  (void)data;
  enter();
  weft_unit* unit = count != 0 ? held[--count] : NULL;
  inside = 0;
  return unit;
}

static size_t size(void* data) {
  (void)data;
  return count;
}

static void nothing(void* argument) { (void)argument; }

static void create_others(void* argument) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  (void)argument;
  attr.pool = pool;
  for (int number = 0; number < CHILDREN; ++number) weft_unit_create(nothing, NULL, &attr, NULL);
}

int main(void) {
  const weft_pool_functions functions = {push, pop, size, NULL};
  weft_scheduler* scheduler = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_unit* units[PARENTS];
  if (weft_init() != WEFT_OK || weft_watchdog(0) != WEFT_OK) return 1;  // or a spare calls them beside a slow one
  if (weft_preempt_timer(WEFT_TIMER_CREATION, 100 * 1000) != WEFT_OK) return 1;
  if (weft_pool_create_custom(&functions, NULL, &pool) != WEFT_OK) return 1;
  if (weft_pool_set_preemption(pool, WEFT_PREEMPT_SIGNAL_YIELD) != WEFT_OK) return 1;
  if (weft_scheduler_create(WEFT_BASIC, 1, &pool, &scheduler) != WEFT_OK) return 1;
  if (weft_worker_set_scheduler(weft_worker_self(), scheduler) != WEFT_OK) return 1;
  attr.pool = pool;
  for (int number = 0; number < PARENTS; ++number)
    if (weft_unit_create(create_others, NULL, &attr, &units[number]) != WEFT_OK) return 1;
  if (weft_unit_free_many(PARENTS, units) != WEFT_OK) return 1;
  while (weft_units(NULL, 0) != 0) weft_yield();
  if (met != 0) printf("functions of a pool met %d times\n", met);
  return met != 0;
}
