/* A root that binds its worker before the others have started: these may run on all CPUs of the process, and so may who
 * carries them when units are interrupted. (Bug: all of weft's threads had the root's CPU alone, and if nobody had said
 * how many workers there are to be, there was one.) */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <weft/weft.h>

static cpu_set_t all;
static weft_worker* of_root;
static atomic_uint elsewhere;  /* seen on another worker than the root's */
static atomic_uint on_too_few; /* of those */

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void look_for_a_while(void* argument) {
  (void)argument;
  const uint64_t end = now_ns() + UINT64_C(1500000000); /* the watchdog counts the CPUs twice a second */
  while (now_ns() < end) {
    cpu_set_t here;
    weft_worker* worker = weft_worker_self();
    if (sched_getaffinity(0, sizeof here, &here) != 0 || worker == of_root || weft_worker_self() != worker) continue;
    atomic_fetch_add(&elsewhere, 1);
    if (!CPU_EQUAL(&here, &all)) atomic_fetch_add(&on_too_few, 1);
  }
}

int main(void) {
  enum { most = 6 };
  weft_unit* units[most];
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = WEFT_PREEMPT_KLT_SWITCH;
  int cpu = 0;
  if (sched_getaffinity(0, sizeof all, &all) != 0 || weft_init() != WEFT_OK) return puts("cannot begin"), 1;
  const unsigned active = weft_workers_active();
  while (!CPU_ISSET((size_t)cpu, &all)) ++cpu;
  of_root = weft_worker_self();
  if (weft_worker_bind(of_root, cpu) != WEFT_OK) return puts("the root's worker cannot be bound"), 1;
  for (int unit = 0; unit < most; ++unit)
    if (weft_unit_create(look_for_a_while, NULL, &attr, &units[unit]) != WEFT_OK) return puts("there is no unit"), 1;
  for (int unit = 0; unit < most; ++unit)
    if (weft_unit_join(units[unit]) != WEFT_OK) return puts("a unit cannot be joined"), 1;
  if (weft_workers_active() != active) return printf("%u workers, then %u\n", active, weft_workers_active()), 1;
  if (active > 1 && elsewhere == 0) return puts("no unit ran on another worker"), 1;
  if (on_too_few != 0) return printf("%u times on too few CPUs, of %u\n", on_too_few, elsewhere), 1;
  return weft_finalize() == WEFT_OK ? 0 : 1;
}
