/* What a worker that is switched off has kept of kernel threads is for those that go on: there are no more of them
 * (WEFT_MAX_KLTS=2), and a call that blocks, on the only worker that is left, needs two.
 *
 * Bug: they stayed with it, and the call kept the root's own kernel thread. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "fail.h"

enum { UNITS = 2, MOST = 64 };

static atomic_int done, given_up;

static void spin(void* nothing) {
  (void)nothing;
  while (weft_preemptions() == 0 && !given_up) /* nobody is interrupted in there */
    for (volatile int i = 0; i < 100000; i++) {
    }
  done++;
}

static void look(void* argument) { *(long*)argument = syscall(SYS_gettid); }

static void block(void* argument) {
  weft_worker* of_root = argument;
  if (weft_worker_self() != of_root) return;
  long thread = 0;
  if (weft_blocking(look, &thread) != WEFT_OK) fail("weft_blocking");
  if (thread == getpid()) fail("the call has kept the root's kernel thread");
}

static int others_are_asleep(void) {
  weft_worker_info infos[MOST];
  size_t count = weft_workers(infos, MOST);
  for (size_t i = 0; i < count && i < MOST; i++)
    if (!infos[i].root && infos[i].state != WEFT_WORKER_ASLEEP) return 0;
  return 1;
}

/* Whether units that spin on the other worker have taken turns. Not where a spare worker has come to one of them, as a
 * new kernel thread of that worker's had no CPU for a while: then each is alone, with one of the two kernel threads. */
static int have_taken_turns(void) {
  weft_unit* units[UNITS];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = WEFT_PREEMPT_KLT_SWITCH;
  attr.flags = WEFT_OWN_TLS;
  done = given_up = 0;
  for (int i = 0; i < UNITS; i++)
    if (weft_unit_create(spin, NULL, &attr, &units[i]) != WEFT_OK) fail("weft_unit_create");
  const time_t limit = time(NULL) + 5;
  while (done < UNITS) { /* weft is not told: nothing runs here */
    if (time(NULL) > limit) given_up = 1;
    sched_yield();
  }
  if (weft_unit_free_many(UNITS, units) != WEFT_OK) fail("weft_unit_free_many");
  return weft_preemptions() != 0;
}

int main(void) {
  if (weft_init() != WEFT_OK) fail("weft_init");
  weft_preempt_timer(WEFT_TIMER_ALIGNED, 200 * 1000);
  /* (Bug: once was all, and it took for ever where a spare worker had come.) */
  for (int attempt = 0; !have_taken_turns(); attempt++) {
    if (attempt == 20) fail("they do not take turns");
    while (!others_are_asleep()) sched_yield();
  }
  if (weft_workers_set_active(1) != WEFT_OK) fail("weft_workers_set_active");
  while (!others_are_asleep()) sched_yield();
  size_t free_klts = 0;
  const size_t klts = weft_klts(&free_klts);
  printf("%zu, free: %zu\n", klts, free_klts);
  if (klts != 2 || free_klts != 2) fail("nothing to test");
  weft_unit* unit = NULL;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = WEFT_PREEMPT_NONE;
  attr.flags = WEFT_OWN_TLS;
  if (weft_unit_create(block, weft_worker_self(), &attr, &unit) != WEFT_OK) fail("weft_unit_create");
  if (weft_unit_free(unit) != WEFT_OK) fail("weft_unit_free");
  return weft_finalize();
}
