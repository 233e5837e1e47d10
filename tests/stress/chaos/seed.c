#include "seed.h"

#include "bits.h"
#include "random.h"
#include "roots.h"
#include "settings.h"
#include "steps.h"
#include "where.h"

#include "../handlers.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int alarms;

// Now and then for longer than a slice.
static void on_signal(int signal) {
  (void)signal;
  const int before = errno;
  volatile double value = 1;
  for (int i = atomic_fetch_add(&alarms, 1) % 8 == 0 ? 50000 : 0; i > 0; i--) {
    value = value * 0.5 + 1;
  }
  errno = 0;
  errno = before;
}

// It comes to the main thread, mostly; so another gets one as well.
static void on_alarm(int signal) {
  const int before = errno;
  syscall(SYS_tgkill, getpid(), last_thread(), SIGUSR2);
  errno = before;
  on_signal(signal);
}

static void start_alarms(void) {
  install(SIGUSR2, on_signal, SA_RESTART);
  install(SIGALRM, on_alarm, SA_RESTART);
  start_timer(ITIMER_REAL, 1000);
}

static void end_alarms(void) {
  while (atomic_load(&alarms) == 0) sleep_seconds(100e-6);
  start_timer(ITIMER_REAL, 0);
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
  if (signals) start_alarms();
  if (leaves) start_left_behind();
  run_roots(roots, rounds);
  if (signals) end_alarms();
  if (!leaves) check_critical_count();
  check_common_count();
}
