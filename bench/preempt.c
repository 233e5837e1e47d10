// What preemption costs (S. Shiina et al., PPoPP 2021). One measurement per call, one JSON object on stdout:
//
//   preempt cost KIND                     Table 1: from the last instruction of one thread to the first of the next, on
//                                         one CPU. KIND: pthread, signal-yield, klt-switch
//   preempt overhead KIND WORKERS STEPS   Fig. 6: how long compute-bound units take, ten per worker; the best of three.
//                                         KIND: none, timer (interrupted, never made to give way), signal-yield,
//                                         klt-switch
//   preempt interruption WORKERS          Fig. 4: what a tick takes from a unit that nobody waits behind
//
// Intervals, timers and variants are those of WEFT_PREEMPT_INTERVAL, WEFT_PREEMPT_TIMER, WEFT_KLT_SLEEP and
// WEFT_KLT_POOLS.
#include <pthread.h>
#include <stdatomic.h>
#include <x86intrin.h>

#include <weft/weft.h>

#include "common.h"

enum { MOST_GAPS = 4096, UNITS_PER_WORKER = 10, MOST_WORKERS = 64, COST_GAPS = 1000 };

static double ticks_per_ns(void) {
  const double began = now_ns();
  const uint64_t ticks = __rdtsc();
  while (now_ns() - began < 20e6) {
  }
  return (double)(__rdtsc() - ticks) / (now_ns() - began);
}

static int by_value(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return left < right ? -1 : left > right;
}

static void print_gaps(const char* name, uint64_t* gaps, size_t count, double scale) {
  qsort(gaps, count, sizeof *gaps, by_value);
  const double median = count > 0 ? (double)gaps[count / 2] / scale : 0;
  const double low = count > 0 ? (double)gaps[count / 4] / scale : 0;
  const double high = count > 0 ? (double)gaps[count * 3 / 4] / scale : 0;
  printf("{\"name\": \"%s\", \"count\": %zu, \"median_ns\": %.1f, \"low_ns\": %.1f, \"high_ns\": %.1f}\n", name, count,
         median, low, high);
}

static weft_preemption kind_of(const char* name) {
  if (strcmp(name, "signal-yield") == 0 || strcmp(name, "timer") == 0) return WEFT_PREEMPT_SIGNAL_YIELD;
  if (strcmp(name, "klt-switch") == 0) return WEFT_PREEMPT_KLT_SWITCH;
  if (strcmp(name, "none") == 0) return WEFT_PREEMPT_NONE;
  fail("preempt: no such kind");
}

// ---------------------------------------------------------------- Table 1

// Two threads take turns on one CPU; each sees when the other was last there.
static struct {
  _Atomic int here;
  _Atomic uint64_t last;
  _Atomic bool over;
  uint64_t gaps[COST_GAPS];
  _Atomic size_t count;
} turns;

static void take_turns(int self) {
  while (!atomic_load_explicit(&turns.over, memory_order_relaxed)) {
    uint64_t now = __rdtsc();
    if (atomic_load_explicit(&turns.here, memory_order_relaxed) != self) {
      now = __rdtsc();  // it may have been interrupted since the last look
      const uint64_t last = atomic_load_explicit(&turns.last, memory_order_relaxed);
      const size_t count = atomic_load_explicit(&turns.count, memory_order_relaxed);
      atomic_store_explicit(&turns.here, self, memory_order_relaxed);
      if (last != 0 && count < COST_GAPS) {
        turns.gaps[count] = now - last;
        atomic_store_explicit(&turns.count, count + 1, memory_order_relaxed);
        if (count + 1 == COST_GAPS) atomic_store(&turns.over, true);
      }
    }
    atomic_store_explicit(&turns.last, now, memory_order_relaxed);
  }
}

static void* turns_of_thread(void* self) {
  take_turns((int)(intptr_t)self);
  return NULL;
}

static void turns_of_unit(void* self) { take_turns((int)(intptr_t)self); }

static void measure_cost(const char* kind, double scale) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  const double end = now_ns() + 30e9;
  if (strcmp(kind, "pthread") == 0) {
    pthread_t threads[2];
    for (intptr_t index = 0; index < 2; ++index)
      if (pthread_create(&threads[index], NULL, turns_of_thread, (void*)(index + 1)) != 0) fail("preempt: no thread");
    for (int index = 0; index < 2; ++index) pthread_join(threads[index], NULL);
  } else {
    setenv("WEFT_NUM_WORKERS", "1", 1);
    if (weft_init() != WEFT_OK) fail("preempt: weft_init");
    weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
    attr.preemption = kind_of(kind);
    weft_unit* units[2];
    for (intptr_t index = 0; index < 2; ++index)
      if (weft_unit_create(turns_of_unit, (void*)(index + 1), &attr, &units[index]) != WEFT_OK)
        fail("preempt: no unit");
    weft_unit_free_many(2, units);
  }
  if (now_ns() > end) fail("preempt: too slow");
  print_gaps(kind, turns.gaps, turns.count, scale);
}

// ---------------------------------------------------------------- Fig. 6

static uint64_t steps_of_each;
static bool only_timer;
static _Atomic uint64_t sink;

static void compute(void* argument) {
  uint64_t value = (uint64_t)(uintptr_t)argument;
  if (only_timer) weft_preempt_disable();
  for (uint64_t step = 0; step < steps_of_each; ++step) value = value * 6364136223846793005U + 1442695040888963407U;
  if (only_timer) weft_preempt_enable();
  atomic_fetch_add(&sink, value);
}

static void measure_overhead(const char* kind, int workers, uint64_t steps) {
  if (weft_init() != WEFT_OK) fail("preempt: weft_init");
  steps_of_each = steps;
  only_timer = strcmp(kind, "timer") == 0;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = kind_of(kind);
  const size_t count = (size_t)workers * UNITS_PER_WORKER;
  weft_unit* units[MOST_WORKERS * UNITS_PER_WORKER];
  double best = 1e18;
  const uint64_t before = weft_preemptions();
  for (int round = 0; round < 3; ++round) {
    const double began = now_ns();
    for (size_t index = 0; index < count; ++index)
      if (weft_unit_create(compute, (void*)(index + 1), &attr, &units[index]) != WEFT_OK) fail("preempt: no unit");
    weft_unit_free_many(count, units);
    const double took = now_ns() - began;
    if (took < best) best = took;
  }
  printf("{\"name\": \"%s\", \"ns\": %.0f, \"preemptions\": %llu, \"klts\": %zu}\n", kind, best,
         (unsigned long long)(weft_preemptions() - before), weft_klts(NULL));
}

// ---------------------------------------------------------------- Fig. 4

static struct {
  uint64_t gaps[MOST_GAPS];
  size_t count;
} seen[MOST_WORKERS];
static double ticks_of_ns;

// Gaps as long as a handler: shorter ones are the loop's own, longer ones another KLT's turn on this CPU.
static void look_for_gaps(void* argument) {
  const size_t self = (size_t)(uintptr_t)argument;
  const uint64_t least = (uint64_t)(400 * ticks_of_ns), most = (uint64_t)(200000 * ticks_of_ns);
  const double end = now_ns() + 500e6;
  uint64_t last = __rdtsc();
  for (uint64_t round = 1; round % 1000000 != 0 || now_ns() < end; ++round) {
    const uint64_t now = __rdtsc();
    if (now - last > least && now - last < most && seen[self].count < MOST_GAPS)
      seen[self].gaps[seen[self].count++] = now - last;
    last = now;
  }
}

static void measure_interruption(int workers, double scale) {
  if (weft_init() != WEFT_OK) fail("preempt: weft_init");
  ticks_of_ns = scale;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.preemption = WEFT_PREEMPT_SIGNAL_YIELD;
  weft_unit* units[MOST_WORKERS];
  for (int index = 0; index < workers; ++index)
    if (weft_unit_create(look_for_gaps, (void*)(uintptr_t)index, &attr, &units[index]) != WEFT_OK)
      fail("preempt: no unit");
  weft_unit_free_many((size_t)workers, units);
  static uint64_t all[MOST_WORKERS * MOST_GAPS];
  size_t count = 0;
  for (int index = 0; index < workers; ++index)
    for (size_t gap = 0; gap < seen[index].count; ++gap) all[count++] = seen[index].gaps[gap];
  print_gaps("interruption", all, count, scale);
}

static int workers_from(const char* text) {
  const int workers = atoi(text);
  if (workers < 1 || workers > MOST_WORKERS) fail("preempt: workers: 1 to 64");
  setenv("WEFT_NUM_WORKERS", text, 1);
  return workers;
}

int main(int count, char** arguments) {
  if (count == 3 && strcmp(arguments[1], "cost") == 0)
    measure_cost(arguments[2], ticks_per_ns());
  else if (count == 5 && strcmp(arguments[1], "overhead") == 0)
    measure_overhead(arguments[2], workers_from(arguments[3]), strtoull(arguments[4], NULL, 10));
  else if (count == 3 && strcmp(arguments[1], "interruption") == 0)
    measure_interruption(workers_from(arguments[2]), ticks_per_ns());
  else
    fail("preempt: cost KIND | overhead KIND WORKERS STEPS | interruption WORKERS");
  return 0;
}
