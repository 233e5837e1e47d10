// How long a cache line takes from one CPU to another and back: two kernel threads hand a counter to and fro. Virtual
// machines are moved between cores that share a cache and cores that do not, and what threads cost that meet changes by
// a factor of two to five then. So python/weft/bench asks before and after each process that it measures (pace.py).
//
// Prints nanoseconds, the least of many short series: as if nothing else ran. Prints 0 where only one CPU is to be had,
// or the two threads never ran at the same time.
#include <pthread.h>
#include <stdatomic.h>

#include "common.h"

enum { SERIES = 40, HANDS = 64, LONGEST_NS = 10000000 };

static _Alignas(128) atomic_int turn;
static cpu_set_t cpus;  // that the process may use
static double until;    // when to give up

static void hand_to_and_fro(int mine) {
  for (int hand = 0; hand < HANDS; hand++) {
    for (unsigned spins = 0; atomic_load_explicit(&turn, memory_order_acquire) != mine; spins++) {
      if (spins % 1024 == 1023 && now_ns() > until) return;
    }
    atomic_store_explicit(&turn, 1 - mine, memory_order_release);
  }
}

static void bind_to(int which) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(cpu, &cpus) && which-- == 0) CPU_SET(cpu, &one);
  }
  if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) != 0) fail("cannot bind a thread to a CPU");
}

static void* answer(void* nothing) {
  bind_to(1);
  for (int series = 0; series < SERIES; series++) hand_to_and_fro(1);
  return nothing;
}

static double line_ns(void) {
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0 || CPU_COUNT(&cpus) < 2) return 0;
  bind_to(0);
  until = now_ns() + LONGEST_NS;
  pthread_t other;
  if (pthread_create(&other, NULL, answer, NULL) != 0) return 0;
  double least = 0;
  for (int series = 0; series < SERIES && now_ns() < until; series++) {
    const double start = now_ns();
    hand_to_and_fro(0);
    const double each = (now_ns() - start) / HANDS;
    if (now_ns() < until && (least == 0 || each < least)) least = each;
  }
  pthread_join(other, NULL);
  return least;
}

int main(void) {
  printf("%.0f\n", line_ns());
  return 0;
}
