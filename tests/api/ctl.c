/* What `weft ctl` is tried on: creates units that compute until somebody closes its standard input. With "deaf" it has
 * a handler of its own for the signal; with "late" it does not use weft before a line has come; with "sleeping" its
 * main thread sleeps most of the time, and fails if that is cut short; with "watched" it does so beside the watchdog.
 * With "computing" three units that come to no scheduling point compute for all that time, beside the watchdog.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

static void own_handler(int number) { (void)number; }

static void compute(void* argument) {
  volatile unsigned* count = argument;
  for (int i = 0; i < 100000; ++i) ++*count;
}

static void tell(const char* text) {
  puts(text);
  fflush(stdout);
}

static int sleeps_well(void) {
  const struct timespec long_enough = {0, 300 * 1000 * 1000};
  return nanosleep(&long_enough, NULL) == 0;
}

static atomic_int begun, over;

static void compute_on(void* argument) {
  volatile unsigned* count = argument;
  atomic_fetch_add(&begun, 1);
  while (!atomic_load_explicit(&over, memory_order_relaxed)) ++*count;
}

static int compute_without_end(void) {
  enum { others = 3 };
  unsigned counts[others] = {0};
  weft_unit* units[others];
  char line[16];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  attr.flags = WEFT_OWN_TLS;
  weft_watchdog(1);
  for (int i = 0; i < others; ++i)
    if (weft_unit_create(compute_on, &counts[i], &attr, &units[i]) != WEFT_OK) return 1;
  while (atomic_load(&begun) != others) usleep(1000);
  tell("ready");
  while (read(0, line, sizeof line) > 0) {
  }
  atomic_store(&over, 1);
  if (weft_unit_free_many(others, units) != WEFT_OK) return 1;
  return weft_finalize();
}

int main(int count, char** arguments) {
  unsigned counts[64] = {0};
  weft_unit* units[64];
  char line[16];
  if (count > 1 && strcmp(arguments[1], "deaf") == 0) signal(SIGURG, own_handler);
  if (count > 1 && strcmp(arguments[1], "late") == 0) {
    tell("not yet");
    if (read(0, line, sizeof line) <= 0) return 1;
  }
  if (weft_init() != WEFT_OK) return 1;
  if (count > 1 && strcmp(arguments[1], "computing") == 0) return compute_without_end();
  const int is_watched = count > 1 && strcmp(arguments[1], "watched") == 0;
  const int sleeps = is_watched || (count > 1 && strcmp(arguments[1], "sleeping") == 0);
  if (is_watched) weft_watchdog(1);
  if (!sleeps) tell("ready");
  for (int round = 0;; ++round) {
    for (int i = 0; i < 64; ++i)
      if (weft_unit_create(compute, &counts[i], NULL, &units[i]) != WEFT_OK) return 1;
    if (weft_unit_free_many(64, units) != WEFT_OK) return 1;
    if (sleeps && round == 10) tell("ready");
    if (round >= 10 && sleeps && !sleeps_well()) return 3;
    fd_set none;
    struct timeval at_once = {0, 0};
    FD_ZERO(&none);
    FD_SET(0, &none);
    if (select(1, &none, NULL, NULL, &at_once) > 0) break;
  }
  return weft_finalize();
}
