#include "seed.h"

#include "bits.h"
#include "random.h"
#include "roots.h"
#include "settings.h"
#include "steps.h"
#include "where.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/time.h>

static atomic_int alarms;

static void on_alarm(int signal) {
  (void)signal;
  const int before = errno;
  atomic_fetch_add(&alarms, 1);
  errno = 0;
  errno = before;
}

static void set_alarms(long us) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval timer = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_alarms(void) {
  while (atomic_load(&alarms) == 0) sleep_seconds(100e-6);
  set_alarms(0);
}

static void* leave_behind(void* argument) {
  for (;;) {
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
      do_a_bit(mix(seed_of_run, (uint64_t)omp_get_thread_num()));
    }
    sleep_seconds(100e-6);
  }
  return argument;
}

static void start_left_behind(void) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, leave_behind, NULL);
  CHECK(error == 0, "pthread_create: %s", strerror(error));
}

void run_seed(unsigned long seed) {
  seed_of_run = seed;
  const uint64_t base = mix(seed, 1);
  const int roots = settings.roots > 0 ? settings.roots : 1 + below(base, 2, below(base, 1, 3) ? 4 : most_roots);
  const int rounds = settings.rounds ? settings.rounds : 1 + below(base, 3, 3);
  const int signals = settings.signals >= 0 ? settings.signals : below(base, 4, 3) == 0;
  const int leaves = settings.leave >= 0 ? settings.leave : below(base, 5, 12) == 0;
  if (signals) set_alarms(1000);
  if (leaves) start_left_behind();
  run_roots(roots, rounds);
  if (signals) end_alarms();
  if (!leaves) check_critical_count();
  check_common_count();
}
