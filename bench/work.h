// The `computation(cycles)` of Figs. 4.9 and 4.12: a chain of dependent multiply-adds of calibrated length.
//
// A loop that watches the clock would count the time its thread is descheduled as work, and with more threads
// than CPUs it would make a slow runtime look fast. Here the number of steps is fixed once, while nothing
// else runs in the program, and only their execution is timed. One cycle is one of the dissertation's machine
// (2.5 GHz): 20,000 cycles are 8 us on every machine, so that overheads weigh the same everywhere.
#ifndef WEFT_BENCH_WORK_H
#define WEFT_BENCH_WORK_H

#include "common.h"

static const double NS_PER_CYCLE = 0.4;

// ns per step on an undisturbed CPU. calibrate_work() sets both; the length of the work follows from the first, the
// ideal from the second, which later looks may lower (a CPU that has become faster).
static double work_ns_per_step, work_ns_per_step_best;

__attribute__((noinline, unused)) static uint64_t work_steps(uint64_t seed, uint64_t steps) {
  uint64_t x = seed;
  for (uint64_t i = 0; i < steps; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    __asm__ volatile("" : "+r"(x));
  }
  return x;
}

// The shortest of many short runs: one that nothing disturbed.
__attribute__((unused)) static double shortest_ns_per_step(int runs) {
  enum { STEPS = 100000 };
  double best = 1e18;
  volatile uint64_t sink = 1;
  for (int run = 0; run < runs; run++) {
    const double start = now_ns();
    sink = work_steps(sink, STEPS);
    const double taken = now_ns() - start;
    if (taken < best) best = taken;
  }
  return best / (double)STEPS;
}

// About 20 ms.
__attribute__((unused)) static void calibrate_work(void) {
  work_ns_per_step = work_ns_per_step_best = shortest_ns_per_step(200);
}

__attribute__((unused)) static uint64_t steps_for(double cycles) {
  return (uint64_t)(cycles * NS_PER_CYCLE / work_ns_per_step + 0.5);
}

// Time of `total_steps` of work spread evenly over as many CPUs as there are, or as there are members for. Looks at the
// speed of the CPU once more, so that an ideal is never too easy.
__attribute__((unused)) static double ideal_us(double total_steps, double members) {
  const double cpus = available_cpus < members ? available_cpus : members;
  const double now = shortest_ns_per_step(60);
  if (now < work_ns_per_step_best) work_ns_per_step_best = now;
  return total_steps * work_ns_per_step_best / cpus / 1e3;
}

#endif
