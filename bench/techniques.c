// Fig. 3.9 of the dissertation: N empty units, created and then joined by one; d % of them, chosen at random, yield
// once. One worker and a private pool, if the back end is told so. Keys: n, d, many=1 (created and joined at once).
//
// instructions=1 makes one run of three phases for `valgrind --tool=callgrind --dump-before=phase_*`: create all,
// run all (by yielding), join all.
#include "native.h"

enum { WARM_RUNS = 8 };

typedef struct {
  size_t n;
  Unit* units;
  void** yields;  // not NULL: the unit yields
} ForkJoin;

static int checked_units;

static PeerResult kernel(void* yields) {
  if (yields) peer_yield();
  PEER_END;
}

static PeerResult counting_kernel(void* yields) {
  if (yields) peer_yield();
  checked_units++;
  PEER_END;
}

static void choose_yielding(ForkJoin* job, size_t count) {
  uint64_t random = 88172645463325252u;
  for (size_t i = 0; i < job->n; i++) job->yields[i] = i < count ? &checked_units : NULL;
  for (size_t i = job->n; i > 1; i--) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const size_t j = (size_t)(random >> 33) % i;
    void* const swapped = job->yields[i - 1];
    job->yields[i - 1] = job->yields[j];
    job->yields[j] = swapped;
  }
}

static void fork_join(void* argument) {
  ForkJoin* job = (ForkJoin*)argument;
  for (size_t i = 0; i < job->n; i++) peer_create(&job->units[i], kernel, job->yields[i]);
  for (size_t i = 0; i < job->n; i++) peer_join(&job->units[i]);
}

static void fork_join_many(void* argument) {
  ForkJoin* job = (ForkJoin*)argument;
  peer_create_many(job->units, job->n, kernel, job->yields);
  peer_join_many(job->units, job->n);
}

static bool all_run(ForkJoin* job) {
  checked_units = 0;
  for (size_t i = 0; i < job->n; i++) peer_create(&job->units[i], counting_kernel, job->yields[i]);
  for (size_t i = 0; i < job->n; i++) peer_join(&job->units[i]);
  return checked_units == (int)job->n;
}

// Where a phase begins is seen by the call of a function of its name, in which nothing happens: one that a unit leaves
// and comes back to would count as entered again.
#define MARK(phase) \
  __attribute__((noinline)) static void phase_##phase(void) { __asm__ volatile("# " #phase); }
MARK(create)
MARK(run)
MARK(join)
MARK(end)

static void run_in_phases(ForkJoin* job, int rounds) {
  phase_create();
  for (size_t i = 0; i < job->n; i++) peer_create(&job->units[i], kernel, job->yields[i]);
  phase_run();
  for (int i = 0; i < rounds; i++) peer_yield();
  phase_join();
  for (size_t i = 0; i < job->n; i++) peer_join(&job->units[i]);
  phase_end();
}

static void run(void* argument) {
  const NativeRun* native = (const NativeRun*)argument;
  const char* config = native->config;
  const int n = config_count(config, "n", 4096);
  ForkJoin job = {(size_t)n, NULL, NULL};
  job.units = (Unit*)allocate(job.n * sizeof *job.units);
  job.yields = (void**)allocate(job.n * sizeof *job.yields);
  const double percent = config_number(config, "d", 0);
  if (percent > 100) fail("d: 0 to 100");
  const int yielding = (int)(n * percent / 100 + 0.5);
  choose_yielding(&job, (size_t)yielding);
  const bool ok = all_run(&job);

  Samples samples = {0};
  if (config_int(config, "instructions", 0)) {
    for (int i = 0; i < WARM_RUNS; i++) fork_join(&job);
    run_in_phases(&job, yielding ? 3 : 2);
  } else {
    samples = measure(native->options, 0, config_int(config, "many", 0) ? fork_join_many : fork_join, &job);
  }
  print_native("techniques", config, n, &samples, ok);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=4096,d=0", "n=4096,d=100"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
