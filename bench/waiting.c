// Members that wait for each other by means of their own, which no OpenMP runtime sees: `rounds` meetings of all
// members in one region, each waiting in a loop of the kind named. And two kinds of members that do not wait at all but
// look as if they did: they only compute, more of them than CPUs.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "common.h"

enum { CYCLE = 1 << 16, STEPS = 1000000 };

static atomic_int arrived;
static volatile int sink;
static uint32_t chain[CYCLE];

static int misses(int target) { return atomic_load_explicit(&arrived, memory_order_acquire) < target; }

static void wait_plainly(int target) {
  while (misses(target)) {
  }
}

static void wait_with_pause(int target) {
  while (misses(target)) __builtin_ia32_pause();
}

// Looks at something else now and then.
static void wait_and_count(int target) {
  for (long i = 1; misses(target); i++) {
    if (i % 1000 == 0) sink++;
  }
}

static void wait_with_backoff(int target) {
  for (int pauses = 1; misses(target); pauses = pauses < 1024 ? 2 * pauses : pauses) {
    for (int i = 0; i < pauses; i++) __builtin_ia32_pause();
  }
}

static void wait_with_timestamps(int target) {
  const uint64_t begin = __builtin_ia32_rdtsc();
  while (misses(target) && __builtin_ia32_rdtsc() - begin < 1ULL << 50) {
  }
}

static void wait_with_wtime(int target) {
  const double begin = omp_get_wtime();
  while (misses(target) && omp_get_wtime() - begin < 1e6) {
  }
}

static void wait_with_clock(int target) {
  const double begin = now_ns();
  while (misses(target) && now_ns() - begin < 1e15) {
  }
}

static void wait_with_sched_yield(int target) {
  while (misses(target)) sched_yield();
}

static uint64_t compute(uint64_t seed) {
  uint64_t x = seed;
  for (int i = 0; i < STEPS; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

static uint64_t chase(uint64_t seed) {
  uint32_t at = (uint32_t)seed % CYCLE;
  for (int i = 0; i < STEPS / 4; i++) at = chain[at];
  return at;
}

static const struct {
  const char* name;
  void (*wait)(int target);
  uint64_t (*work)(uint64_t seed);
} kinds[] = {
    {"plain", wait_plainly, NULL},
    {"pause", wait_with_pause, NULL},
    {"count", wait_and_count, NULL},
    {"backoff", wait_with_backoff, NULL},
    {"timestamps", wait_with_timestamps, NULL},
    {"wtime", wait_with_wtime, NULL},
    {"clock", wait_with_clock, NULL},
    {"sched_yield", wait_with_sched_yield, NULL},
    {"compute", NULL, compute},
    {"chase", NULL, chase},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct {
  int kind, members, rounds;
  uint64_t sum;
  bool wrong;
} Run;

static void kernel(void* argument) {
  Run* const run = argument;
  uint64_t sum = 0;
  int last = 0;
  atomic_store(&arrived, 0);
#pragma omp parallel num_threads(run->members) reduction(+ : sum) reduction(max : last)
  for (int round = 1; round <= run->rounds; round++) {
    if (kinds[run->kind].work) {
      sum += kinds[run->kind].work((uint64_t)omp_get_thread_num() + 1);
      last = round;
    } else {
      atomic_fetch_add(&arrived, 1);
      kinds[run->kind].wait(run->members * round);
      last = round;
    }
  }
  if (last != run->rounds || (run->sum && run->sum != sum)) run->wrong = true;
  run->sum = sum;
}

static int kind_named(const char* name) {
  for (int kind = 0; kind < KINDS; kind++) {
    if (strcmp(kinds[kind].name, name) == 0) return kind;
  }
  fail("no kind of waiting: %s", name);
}

static void run(const Options* options, const char* config) {
  Run of = {.kind = kind_named(config_word(config, "kind", "plain")),
            .members = config_int(config, "members", 8),
            .rounds = config_int(config, "rounds", 10)};
  const Samples samples = measure(options, 0, kernel, &of);
  print_result("waiting", config,
               text("\"kind\": \"%s\", \"members\": %d, \"rounds\": %d", kinds[of.kind].name, of.members, of.rounds),
               &samples, 0, !of.wrong, "");
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=plain",      "kind=pause", "kind=count", "kind=backoff",
                                        "kind=timestamps", "kind=wtime", "kind=clock", "kind=sched_yield",
                                        "kind=compute",    "kind=chase"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (uint32_t i = 0; i < CYCLE; i++) chain[i] = (i * 40505u + 7u) % CYCLE;
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
