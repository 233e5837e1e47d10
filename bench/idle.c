// What waiting costs: the process's CPU time in the second that follows a region, while the program sleeps.
// A sample is in us of CPU time per second. The members' count decides how many of the runtime's threads
// wait.
#include <omp.h>
#include <unistd.h>

#include "common.h"

enum { WINDOW_MS = 1000, REGIONS = 100 };

static double cpu_time_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

__attribute__((noinline)) static void empty(int i) { __asm__ volatile("" : : "r"(i) : "memory"); }

static void run(const Options* options, const char* config) {
  const int members = config_count(config, "members", 8);
  check_keys(config);
  Samples samples = {.batch = 1};
  const double start = now_ns();
  do {
    for (int i = 0; i < REGIONS; i++) {
#pragma omp parallel for num_threads(members)
      for (int j = 0; j < members; j++) empty(j);
    }
    const double before = cpu_time_us();
    const struct timespec window = {WINDOW_MS / 1000, WINDOW_MS % 1000 * 1000000L};
    nanosleep(&window, NULL);
    samples.us[samples.count++] = (cpu_time_us() - before) * 1000 / WINDOW_MS;
  } while (now_ns() - start < options->time_ms * 1e6 && samples.count < MAX_SAMPLES);
  print_result("idle", config, text("\"members\": %d, \"window_ms\": %d", members, WINDOW_MS), &samples, 0, true, "");
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"members=2", "members=8"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  for (int i = 0; i < options.configs; i++) run(&options, options.config[i]);
  return 0;
}
