#include <stdio.h>
#include <weft/weft.h>

static void say(void* text) { puts(text); }

/* The second pool has its turn only when the first is empty. */
static void urgent_first(weft_scheduler* scheduler, void* data) {
  weft_pool *urgent = NULL, *other = NULL;
  weft_scheduler_pool(scheduler, 0, &urgent);
  weft_scheduler_pool(scheduler, 1, &other);
  while (!weft_scheduler_stops(scheduler)) {
    weft_unit* unit = NULL;
    if (weft_pool_pop(urgent, &unit) == WEFT_OK || weft_pool_pop(other, &unit) == WEFT_OK) weft_unit_run(unit);
  }
  puts(data);
}

int main(void) {
  weft_pool* pools[2];
  weft_scheduler* scheduler = NULL;
  weft_worker* worker = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_init();
  for (int i = 0; i < 2; ++i) weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pools[i]);
  weft_scheduler_create_custom(urgent_first, "the scheduler ends", 1, 2, pools, &scheduler);

  attr.pool = pools[1];
  weft_unit_create(say, "some time", &attr, NULL); /* NULL: nobody joins it */
  weft_unit_create(say, "later", &attr, NULL);
  attr.pool = pools[0];
  weft_unit_create(say, "at once", &attr, NULL);

  weft_worker_create(scheduler, &worker); /* runs them, on a kernel thread of its own */
  weft_worker_join(worker);
  weft_scheduler_free(scheduler);
  for (int i = 0; i < 2; ++i) weft_pool_free(pools[i]);
  return weft_finalize();
}
