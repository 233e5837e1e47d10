// One producer: it creates n empty units and joins them, while the other workers take what they can. Keys: n, many=1.
#include "native.h"

typedef struct {
  size_t n;
  Unit* units;
  void** arguments;
} Producer;

static int checked_units;

static PeerResult empty(void* argument) {
  (void)argument;
  PEER_END;
}

static PeerResult counting(void* argument) {
  (void)argument;
  __atomic_fetch_add(&checked_units, 1, __ATOMIC_RELAXED);
  PEER_END;
}

static void produce(void* argument) {
  Producer* job = (Producer*)argument;
  for (size_t i = 0; i < job->n; i++) peer_create(&job->units[i], empty, NULL);
  for (size_t i = 0; i < job->n; i++) peer_join(&job->units[i]);
}

static void produce_many(void* argument) {
  Producer* job = (Producer*)argument;
  peer_create_many(job->units, job->n, empty, job->arguments);
  peer_join_many(job->units, job->n);
}

static bool all_run(Producer* job) {
  for (size_t i = 0; i < job->n; i++) peer_create(&job->units[i], counting, NULL);
  for (size_t i = 0; i < job->n; i++) peer_join(&job->units[i]);
  return checked_units == (int)job->n;
}

static void run(void* argument) {
  const NativeRun* native = (const NativeRun*)argument;
  Producer job = {(size_t)config_count(native->config, "n", 4096), NULL, NULL};
  job.units = (Unit*)allocate(job.n * sizeof *job.units);
  job.arguments = (void**)allocate(job.n * sizeof *job.arguments);
  for (size_t i = 0; i < job.n; i++) job.arguments[i] = NULL;
  const bool ok = all_run(&job);
  const Samples samples =
      measure(native->options, 0, config_int(native->config, "many", 0) ? produce_many : produce, &job);
  print_native("producer", native->config, (double)job.n, &samples, ok);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=4096,workers=2"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
