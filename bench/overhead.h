// What a construct of OpenMP costs, as EPCC's microbenchmarks define it (J. M. Bull, "Measuring Synchronisation and
// Scheduling Overheads in OpenMP", 1999; tasks: J. M. Bull, F. Reid, N. McDonnell, 2012): the time of `repeats`
// executions with a delay inside, less that of the delays alone on one thread, divided by `repeats`.
//
// Each sample takes the two times one after the other, so that a CPU that changes its speed changes both. An overhead
// may come out negative where it is less than what two times of the same delays differ by.
#ifndef WEFT_BENCH_OVERHEAD_H
#define WEFT_BENCH_OVERHEAD_H

#include <omp.h>
#include <stdatomic.h>

#include "common.h"
#include "work.h"

enum { FEWEST_REPEATS = 64, MOST_REPEATS = 8192, TEST_FLOOR_NS = 600000, MOST_THREADS = 64 };

static const double DELAY_CYCLES = 250;  // 0.1 us, the suite's default

static int threads;
static int repeats;  // a multiple of FEWEST_REPEATS
static uint64_t delay_steps;
static bool counts_delays;  // while the program checks itself
static atomic_long delays_counted;

__attribute__((unused)) static void delay(void) {
  work_steps(1, delay_steps);
  if (__builtin_expect(counts_delays, 0)) atomic_fetch_add(&delays_counted, 1);
}

typedef struct {
  const char* name;
  void (*test)(void);
  void (*reference)(void);
  long (*delays)(void);  // that one run of the test goes through; NULL: there are none to be counted
} Construct;

__attribute__((unused)) static void delays_alone(void) {
  for (int i = 0; i < repeats; i++) delay();
}

__attribute__((unused)) static long one_each(void) { return repeats; }
__attribute__((unused)) static long one_per_thread(void) { return (long)repeats * threads; }

static double time_of(void (*body)(void)) {
  const double start = now_ns();
  body();
  return now_ns() - start;
}

// Warms up, and finds the number of repeats that makes a run long enough to be timed.
static void choose_repeats(const Options* options, const Construct* construct) {
  const double start = now_ns();
  repeats = FEWEST_REPEATS;
  do {
    const double taken = time_of(construct->test);
    if (taken < (double)TEST_FLOOR_NS && repeats < MOST_REPEATS) repeats *= 2;
  } while (now_ns() - start < options->warm_ms * 1e6);
}

static Samples measure_overhead(const Options* options, const Construct* construct) {
  Samples samples = {.count = 0, .batch = repeats};
  const double start = now_ns(), budget = options->time_ms * 1e6;
  for (;;) {
    const double alone = time_of(construct->reference);
    const double with = time_of(construct->test);
    samples.us[samples.count++] = (with - alone) / repeats / 1e3;
    const double spent = now_ns() - start;
    if (samples.count == MAX_SAMPLES || spent >= 4 * budget) break;
    if (spent >= budget && samples.count >= options->min_samples) break;
  }
  return samples;
}

// Every delay of the construct was executed, and by a team of the size that was asked for.
static bool construct_works(const Construct* construct) {
  int team = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    team = omp_get_num_threads();
  }
  if (!construct->delays) return team == threads;
  atomic_store(&delays_counted, 0);
  counts_delays = true;
  construct->test();
  counts_delays = false;
  return team == threads && atomic_load(&delays_counted) == construct->delays();
}

__attribute__((unused)) static void measure_construct(const Options* options, const char* program, const char* config,
                                                      const Construct* constructs, int count) {
  const char* const name = config_word(config, "kind", "");
  const Construct* construct = NULL;
  for (int i = 0; i < count; i++) {
    if (strcmp(constructs[i].name, name) == 0) construct = &constructs[i];
  }
  if (!construct) fail("%s: unknown kind '%s'", program, name);
  threads = config_int(config, "threads", 2);
  if (threads < 1 || threads > MOST_THREADS) fail("threads: 1 to %d", MOST_THREADS);
  check_keys(config);
  omp_set_num_threads(threads);
  delay_steps = steps_for(DELAY_CYCLES);
  repeats = FEWEST_REPEATS;
  const bool before = construct_works(construct);
  choose_repeats(options, construct);
  const Samples samples = measure_overhead(options, construct);
  repeats = FEWEST_REPEATS;
  const bool after = construct_works(construct);
  print_result(program, config, text("\"kind\": \"%s\", \"threads\": %d", name, threads), &samples, 0, before && after,
               "");
}

#define MEASURE_CONSTRUCTS(argc, argv, program, configs, constructs)        \
  do {                                                                      \
    const Options options = PARSE_OPTIONS(argc, argv, configs);             \
    calibrate_work();                                                       \
    for (int i = 0; i < options.configs; i++)                               \
      measure_construct(&options, program, options.config[i], constructs,   \
                        (int)(sizeof(constructs) / sizeof(*(constructs)))); \
  } while (0)

#endif
