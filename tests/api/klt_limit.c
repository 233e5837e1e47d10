/* KLT-switching units and blocking calls where no kernel threads can be had for them: they run on where they are.
 *
 *   klt_limit           as many as WEFT_MAX_KLTS says
 *   klt_limit THREADS   as many as the kernel allows (RLIMIT_NPROC), as a user who is nobody else */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>

#include "fail.h"

enum { UNITS = 20 };

static atomic_int done;

static void sleep_a_little(void* nothing) {
  (void)nothing;
  usleep(200);
}

static void block_and_compute(void* nothing) {
  (void)nothing;
  for (int round = 0; round < 3; round++) {
    if (weft_blocking(sleep_a_little, NULL) != WEFT_OK) fail("weft_blocking");
    const clock_t end = clock() + CLOCKS_PER_SEC / 1000;
    while (clock() < end) {
    }
    weft_yield();
  }
  done++;
}

int main(int count, char** arguments) {
  if (count > 1) {
    const unsigned nobody_else = 54321;
    if (getuid() == 0 && setuid(nobody_else) != 0) fail("setuid");
    const struct rlimit limit = {(rlim_t)atoi(arguments[1]), (rlim_t)atoi(arguments[1])};
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) fail("setrlimit");
  }
  if (weft_init() != WEFT_OK) fail("weft_init");
  weft_preempt_timer(WEFT_TIMER_ALIGNED, 200 * 1000);
  weft_unit* units[UNITS];
  for (int i = 0; i < UNITS; i++) {
    weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
    if (i % 2 == 0) attr.preemption = WEFT_PREEMPT_KLT_SWITCH;
    attr.flags = WEFT_OWN_TLS;
    if (weft_unit_create(block_and_compute, NULL, &attr, &units[i]) != WEFT_OK) fail("weft_unit_create");
  }
  if (weft_unit_join_many(UNITS, units) != WEFT_OK) fail("weft_unit_join_many");
  if (weft_unit_free_many(UNITS, units) != WEFT_OK) fail("weft_unit_free_many");
  const char* most = getenv("WEFT_MAX_KLTS");
  if (most != NULL && weft_klts(NULL) > (size_t)atoi(most)) fail("more than WEFT_MAX_KLTS");
  printf("%d\n", done);
  return done == UNITS ? 0 : 1;
}
