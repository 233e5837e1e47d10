/* Loading libweft asks the system for no CPUs; when it starts it remembers those of the process, even if the thread
 * that starts it is bound to one. Argument: which thread starts it, "main" or "thread". */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/weft.h>

static int asked = 0;
static cpu_set_t wanted, seen;

/* In place of libc's. */
int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* set) {
  ++asked;
  memset(set, 0, size);
  return syscall(SYS_sched_getaffinity, thread, size, set) < 0 ? -1 : 0;
}

static void look(void* argument) {
  (void)argument;
  sched_getaffinity(0, sizeof seen, &seen);
}

static void bind_to_one(void) {
  cpu_set_t one;
  size_t cpu = 0;
  while (!CPU_ISSET(cpu, &wanted)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void* start(void* argument) {
  (void)argument;
  bind_to_one();
  return weft_init() == WEFT_OK ? &asked : NULL;
}

int main(int count, char** arguments) {
  weft_pool* pool = NULL;
  weft_scheduler* scheduler = NULL;
  weft_worker* worker = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  if (asked != 0) return puts("the CPUs are asked for at load"), 1;
  sched_getaffinity(0, sizeof wanted, &wanted);

  if (count > 1 && strcmp(arguments[1], "thread") == 0) {
    pthread_t thread;
    void* started = NULL;
    if (pthread_create(&thread, NULL, start, NULL) != 0 || pthread_join(thread, &started) != 0) return 2;
    if (started == NULL) return 3;
  } else {
    if (weft_init() != WEFT_OK) return 3;
    bind_to_one();
  }

  if (asked == 1) return puts("the library does not ask through this program: the test shows nothing"), 11;

  if (weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool) != WEFT_OK) return 4;
  if (weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler) != WEFT_OK) return 5;
  if (weft_worker_create(scheduler, &worker) != WEFT_OK) return 6;
  if (weft_worker_bind(worker, -1) != WEFT_OK) return 7;
  attr.pool = pool;
  if (weft_unit_create(look, NULL, &attr, NULL) != WEFT_OK) return 8;
  if (weft_worker_join(worker) != WEFT_OK) return 9;
  if (!CPU_EQUAL(&seen, &wanted)) return puts("a worker that is not bound has other CPUs than the process had"), 10;
  weft_scheduler_free(scheduler);
  weft_pool_free(pool);
  return 0;
}
