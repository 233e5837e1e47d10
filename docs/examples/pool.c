#include <pthread.h>
#include <stdio.h>
#include <weft/weft.h>

/* The newest first, and no more than 100. Workers call these, not units: what they wait for must not be a unit. */
typedef struct newest_first {
  pthread_mutex_t mutex;
  size_t count;
  weft_unit* units[100];
} newest_first;

static void push(void* data, weft_unit* unit) {
  newest_first* pool = data;
  pthread_mutex_lock(&pool->mutex);
  pool->units[pool->count++] = unit;
  pthread_mutex_unlock(&pool->mutex);
}

static weft_unit* pop(void* data) {
  newest_first* pool = data;
  pthread_mutex_lock(&pool->mutex);
  weft_unit* unit = pool->count > 0 ? pool->units[--pool->count] : NULL;
  pthread_mutex_unlock(&pool->mutex);
  return unit;
}

static size_t size(void* data) {
  newest_first* pool = data;
  pthread_mutex_lock(&pool->mutex);
  size_t count = pool->count;
  pthread_mutex_unlock(&pool->mutex);
  return count;
}

static void say(void* text) { puts(text); }

int main(void) {
  static newest_first data = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  const weft_pool_functions functions = {push, pop, size, NULL};
  weft_pool* pool = NULL;
  weft_scheduler* scheduler = NULL;
  weft_worker* worker = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  weft_init();
  weft_pool_create_custom(&functions, &data, &pool);
  weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler);

  attr.pool = pool;
  weft_unit_create(say, "first", &attr, NULL);
  weft_unit_create(say, "second", &attr, NULL);
  weft_unit_create(say, "third", &attr, NULL);

  weft_worker_create(scheduler, &worker);
  weft_worker_join(worker);
  weft_scheduler_free(scheduler);
  weft_pool_free(pool);
  return weft_finalize();
}
