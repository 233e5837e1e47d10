// Members that wait for each other by means of their own, which no OpenMP runtime sees: `rounds` meetings of all
// members in one region, each waiting in a loop of the kind named, or asleep (condition). And two kinds of members that
// do not wait at all but look as if they did: they only compute, more of them than CPUs. `roots` threads of the program
// do so side by side, each in `regions` regions, one after the other.
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "common.h"

enum { CYCLE = 1 << 16, STEPS = 1000000, MOST_ROOTS = 64 };

static volatile int sink;
static uint32_t chain[CYCLE];

static bool misses(const atomic_int* arrived, int target) {
  return atomic_load_explicit(arrived, memory_order_acquire) < target;
}

static void wait_plainly(const atomic_int* arrived, int target) {
  while (misses(arrived, target)) {
  }
}

static void wait_with_pause(const atomic_int* arrived, int target) {
  while (misses(arrived, target)) __builtin_ia32_pause();
}

// Looks at something else now and then.
static void wait_and_count(const atomic_int* arrived, int target) {
  for (long i = 1; misses(arrived, target); i++) {
    if (i % 1000 == 0) sink++;
  }
}

static void wait_with_backoff(const atomic_int* arrived, int target) {
  for (int pauses = 1; misses(arrived, target); pauses = pauses < 1024 ? 2 * pauses : pauses) {
    for (int i = 0; i < pauses; i++) __builtin_ia32_pause();
  }
}

static void wait_with_timestamps(const atomic_int* arrived, int target) {
  const uint64_t begin = __builtin_ia32_rdtsc();
  while (misses(arrived, target) && __builtin_ia32_rdtsc() - begin < 1ULL << 50) {
  }
}

static void wait_with_wtime(const atomic_int* arrived, int target) {
  const double begin = omp_get_wtime();
  while (misses(arrived, target) && omp_get_wtime() - begin < 1e6) {
  }
}

static void wait_with_clock(const atomic_int* arrived, int target) {
  const double begin = now_ns();
  while (misses(arrived, target) && now_ns() - begin < 1e15) {
  }
}

static void wait_with_sched_yield(const atomic_int* arrived, int target) {
  while (misses(arrived, target)) sched_yield();
}

// Each arrival wakes all who have come, and all but the last sleep again.
static void wait_on_condition(const atomic_int* arrived, int target) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&changed);
  while (misses(arrived, target)) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
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
  void (*wait)(const atomic_int* arrived, int target);
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
    {"condition", wait_on_condition, NULL},
    {"compute", NULL, compute},
    {"chase", NULL, chase},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct {
  int kind, members, rounds, roots, regions;
  _Atomic uint64_t sum;  // of the first region in which members compute; 0: there was none yet
  atomic_bool wrong;
} Run;

// The same sum each time, if members compute; and each member comes to the last round.
static void one_region(Run* run) {
  atomic_int arrived = 0;
  uint64_t sum = 0;
  int last = 0;
#pragma omp parallel num_threads(run->members) reduction(+ : sum) reduction(max : last)
  for (int round = 1; round <= run->rounds; round++) {
    if (kinds[run->kind].work) {
      sum += kinds[run->kind].work((uint64_t)omp_get_thread_num() + 1);
    } else {
      atomic_fetch_add(&arrived, 1);
      kinds[run->kind].wait(&arrived, run->members * round);
    }
    last = round;
  }
  uint64_t before = 0;
  const bool same = atomic_compare_exchange_strong(&run->sum, &before, sum) || before == sum;
  if (last != run->rounds || !same) run->wrong = true;
}

static void* root(void* argument) {
  Run* const run = argument;
  for (int region = 0; region < run->regions; region++) one_region(run);
  return NULL;
}

static void kernel(void* argument) {
  const Run* const run = argument;
  pthread_t others[MOST_ROOTS];
  for (int i = 1; i < run->roots; i++) {
    if (pthread_create(&others[i], NULL, root, argument) != 0) fail("pthread_create: no thread");
  }
  root(argument);
  for (int i = 1; i < run->roots; i++) pthread_join(others[i], NULL);
}

static int kind_named(const char* name) {
  for (int kind = 0; kind < KINDS; kind++) {
    if (strcmp(kinds[kind].name, name) == 0) return kind;
  }
  fail("no kind of waiting: %s", name);
}

static void run(const Options* options, const char* config) {
  Run of = {.kind = kind_named(config_word(config, "kind", "plain")),
            .members = config_count(config, "members", 8),
            .rounds = config_count(config, "rounds", 10),
            .roots = config_count(config, "roots", 1),
            .regions = config_count(config, "regions", 1)};
  if (of.roots < 1 || of.roots > MOST_ROOTS) fail("roots must be 1 to %d: %s", MOST_ROOTS, config);
  const Samples samples = measure(options, 0, kernel, &of);
  print_result("waiting", config,
               text("\"kind\": \"%s\", \"members\": %d, \"rounds\": %d, \"roots\": %d, \"regions\": %d",
                    kinds[of.kind].name, of.members, of.rounds, of.roots, of.regions),
               &samples, 0, !of.wrong, "");
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=plain",      "kind=pause",   "kind=count", "kind=backoff",
                                        "kind=timestamps", "kind=wtime",   "kind=clock", "kind=sched_yield",
                                        "kind=condition",  "kind=compute", "kind=chase"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (uint32_t i = 0; i < CYCLE; i++) chain[i] = (i * 40505u + 7u) % CYCLE;
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
