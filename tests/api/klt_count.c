/* No more kernel threads are made than are needed: one worker keeps some that nobody uses, others want their first, and
 * on the only CPU it takes a while until that has begun.
 *
 * Bug: what lay in the one's own pool counted as there; so the others did not wait for what they had started, and
 * started more and more. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "fail.h"

enum { WORKERS = 8, FIRST = 3, UNITS = FIRST + WORKERS - 1, COMPUTING = 8 };

static atomic_int over, done;

static void compute_a_little(void* nothing) {
  (void)nothing;
  const clock_t end = clock() + CLOCKS_PER_SEC / 50;
  while (clock() < end) {
  }
  done++;
}

static void sleep_a_little(void* nothing) {
  (void)nothing;
  usleep(200);
}

static void block(void* nothing) {
  (void)nothing;
  if (weft_blocking(sleep_a_little, NULL) != WEFT_OK) fail("weft_blocking");
  done++;
}

static void* compute_on(void* nothing) {
  while (!over) {
  }
  return nothing;
}

static void run(weft_pool* pool, int count, weft_preemption kind, void (*function)(void*)) {
  weft_unit* units[UNITS];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.pool = pool;
  attr.preemption = kind;
  attr.flags = WEFT_OWN_TLS;
  for (int i = 0; i < count; i++)
    if (weft_unit_create(function, NULL, &attr, &units[i]) != WEFT_OK) fail("weft_unit_create");
  if (weft_unit_free_many((size_t)count, units) != WEFT_OK) fail("weft_unit_free_many");
}

int main(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) fail("sched_setaffinity");
  const struct sched_param usual = {0};
  if (sched_setscheduler(0, SCHED_BATCH, &usual) != 0) fail("sched_setscheduler");  // who begins waits for its turn
  if (weft_init() != WEFT_OK) fail("weft_init");
  weft_pool* pools[WORKERS];
  weft_scheduler* schedulers[WORKERS];
  weft_worker* workers[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    if (weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pools[i]) != WEFT_OK) fail("weft_pool_create");
    if (weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pools[i], &schedulers[i]) != WEFT_OK) fail("weft_scheduler_create");
    if (weft_worker_create(schedulers[i], &workers[i]) != WEFT_OK) fail("weft_worker_create");
  }
  run(pools[0], FIRST, WEFT_PREEMPT_KLT_SWITCH, compute_a_little);
  const size_t before = weft_klts(NULL);
  pthread_t threads[COMPUTING];
  for (int i = 0; i < COMPUTING; i++)
    if (pthread_create(&threads[i], NULL, compute_on, NULL) != 0) fail("pthread_create");
  for (int i = 1; i < WORKERS; i++) run(pools[i], 1, WEFT_PREEMPT_NONE, block);
  over = 1;
  for (int i = 0; i < COMPUTING; i++) pthread_join(threads[i], NULL);
  const size_t klts = weft_klts(NULL);
  for (int i = 0; i < WORKERS; i++)
    if (weft_worker_join(workers[i]) != WEFT_OK || weft_scheduler_free(schedulers[i]) != WEFT_OK ||
        weft_pool_free(pools[i]) != WEFT_OK)
      fail("the workers");
  printf("%zu, then %zu\n", before, klts);
  if (done != UNITS) fail("not all have run");
  if (klts > 2 * WORKERS + UNITS) fail("more kernel threads than workers and units can use");
  return weft_finalize();
}
