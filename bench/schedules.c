// The overhead of worksharing loops of 128 iterations per thread, by schedule and chunk, after EPCC's suite
// (overhead.h); per loop. Keys: threads, chunk, kind=
//   block                            schedule(static)
//   static, dynamic, guided          with the chunk
//   monotonic                        schedule(monotonic : dynamic, chunk)
//   taskloop                         by one thread, in tasks of `chunk` iterations
#include "overhead.h"

enum { ITERATIONS = 128 };

static int chunk = 1;

static void loops_alone(void) {
  for (int j = 0; j < repeats; j++)
    for (int i = 0; i < ITERATIONS; i++) delay();
}

static long iterations(void) { return (long)repeats * ITERATIONS * threads; }

#define LOOPS_WITH(schedule_clause)                                                    \
  do {                                                                                 \
    _Pragma("omp parallel") for (int j = 0; j < repeats; j++) {                        \
      _Pragma(schedule_clause) for (int i = 0; i < ITERATIONS * threads; i++) delay(); \
    }                                                                                  \
  } while (0)

static void test_block(void) { LOOPS_WITH("omp for schedule(static)"); }
static void test_static(void) { LOOPS_WITH("omp for schedule(static, chunk)"); }
static void test_dynamic(void) { LOOPS_WITH("omp for schedule(dynamic, chunk)"); }
static void test_monotonic(void) { LOOPS_WITH("omp for schedule(monotonic : dynamic, chunk)"); }
static void test_guided(void) { LOOPS_WITH("omp for schedule(guided, chunk)"); }

static void test_taskloop(void) {
#pragma omp parallel
#pragma omp master
  for (int j = 0; j < repeats; j++) {
#pragma omp taskloop num_tasks(ITERATIONS* threads / chunk)
    for (int i = 0; i < ITERATIONS * threads; i++) delay();
  }
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=block",     "kind=static", "kind=dynamic",
                                        "kind=monotonic", "kind=guided", "kind=taskloop"};
  static const Construct constructs[] = {
      {"block", test_block, loops_alone, iterations},         {"static", test_static, loops_alone, iterations},
      {"dynamic", test_dynamic, loops_alone, iterations},     {"guided", test_guided, loops_alone, iterations},
      {"monotonic", test_monotonic, loops_alone, iterations}, {"taskloop", test_taskloop, loops_alone, iterations},
  };
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  calibrate_work();
  for (int i = 0; i < options.configs; i++) {
    chunk = config_int(options.config[i], "chunk", 1);
    if (chunk < 1 || chunk > ITERATIONS) fail("chunk: 1 to %d", ITERATIONS);
    measure_construct(&options, "schedules", options.config[i], constructs,
                      (int)(sizeof constructs / sizeof *constructs));
  }
  return 0;
}
