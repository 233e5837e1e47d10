// Resident memory of a unit. Keys: kind=suspended (default: n units that wait at a barrier), pending (n units that have
// not been started; one worker, parent-first). Samples are in bytes per unit.
#include "native.h"

static PeerBarrier barrier;
static long arrived;

static PeerResult wait_at_barrier(void* argument) {
  (void)argument;
  __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
  peer_barrier_wait(&barrier);
  PEER_END;
}

static PeerResult arrive(void* argument) {
  (void)argument;
  __atomic_fetch_add(&arrived, 1, __ATOMIC_RELAXED);
  PEER_END;
}

static double resident_bytes(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  long size, resident;
  if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2) fail("cannot read /proc/self/statm");
  fclose(file);
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double suspended(Unit* units, int n) {
  peer_barrier_init(&barrier, n + 1);
  const double before = resident_bytes();
  for (int i = 0; i < n; i++) peer_create(&units[i], wait_at_barrier, NULL);
  while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < n) peer_yield();
  peer_yield();  // the last one reaches the barrier
  const double after = resident_bytes();
  peer_barrier_wait(&barrier);
  for (int i = 0; i < n; i++) peer_join(&units[i]);
  return (after - before) / n;
}

static double pending(Unit* units, int n) {
  const double before = resident_bytes();
  for (int i = 0; i < n; i++) peer_create(&units[i], arrive, NULL);
  const double after = resident_bytes();
  if (arrived > 0) fail("%ld units have started already", arrived);
  for (int i = 0; i < n; i++) peer_join(&units[i]);
  return (after - before) / n;
}

static void run(void* argument) {
  const NativeRun* native = (const NativeRun*)argument;
  const char* config = native->config;
  const int n = config_count(config, "n", 100000);
  Unit* units = (Unit*)allocate((size_t)n * sizeof *units);
  memset(units, 0, (size_t)n * sizeof *units);  // the caller's memory is not a unit's
  Samples samples = {.count = 1, .batch = 1};
  samples.us[0] = config_is(config, "kind", "pending") ? pending(units, n) : suspended(units, n);
  print_result_of(file_of(peer_symbol()), "bytes", "memory", config,
                  text("\"library\": \"%s\", \"operations\": 1", PEER_NAME), &samples, 0, arrived == n, "");
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=suspended,n=100000", "kind=pending,n=1000000"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
