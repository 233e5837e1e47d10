// The process ends with the last thread of the program, also after weft's timer has resumed a unit that has a pool of
// its own: that must not have made the timer a thread of the program. What it has asked for at its end runs as in a
// thread of its own, with a stack of the usual size and no more signals blocked. (Bug: it ran on one of weft's.)
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static void at_end(void) {
  volatile char much[300 * 1024];
  sigset_t blocked;
  memset((void*)much, 1, sizeof much);
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  if (sigismember(&blocked, SIGTERM) == 0 && much[1000] == 1) return;
  puts("signals are blocked at the end");
  fflush(stdout);
  _exit(1);
}

static void sleep_a_while(void* argument) {
  (void)argument;
  if (weft_sleep(1000000) != WEFT_OK) printf("the unit could not sleep\n");
}

int main(void) {
  weft_pool* pool = NULL;
  weft_scheduler* scheduler = NULL;
  weft_worker* worker = NULL;
  weft_unit* unit = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  if (atexit(at_end) != 0 || weft_init() != WEFT_OK || weft_pool_create(WEFT_FIFO, WEFT_MPMC, &pool) != WEFT_OK ||
      weft_scheduler_create(WEFT_BASIC_WAIT, 1, &pool, &scheduler) != WEFT_OK ||
      weft_worker_create(scheduler, &worker) != WEFT_OK)
    return 1;
  attr.pool = pool;
  if (weft_unit_create(sleep_a_while, NULL, &attr, &unit) != WEFT_OK || weft_unit_free(unit) != WEFT_OK ||
      weft_worker_join(worker) != WEFT_OK || weft_scheduler_free(scheduler) != WEFT_OK ||
      weft_pool_free(pool) != WEFT_OK || weft_finalize() != WEFT_OK)
    return 1;
  pthread_exit(NULL);
}
