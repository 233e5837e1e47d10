// Chaos: for a seed, a random mix of OpenMP and threads that ends with the right result wherever each member has a
// thread of the kernel's. All members of a team go through the same steps, so that each of them comes to each, and what
// a step needs is made afresh for it: no lock is held but by the rules of one step. Everything counted is checked.
//
//   chaos SEED [--gentle] [--without=NAME,...] [--only=NAME,...] [--roots=N] [--members=N] [--depth=N] [--steps=N]
//              [--rounds=N] [--signals=0|1] [--meetings=0|1] [--leave=0|1] [--repeat=N] [--bits=MASK] [--plan] [--list]
//
// A NAME is that of a step or of a class of steps (--list). --gentle is --without=spin,kernel,makes_thread: then nobody
// waits for another but in OpenMP's constructs, by sched_yield(), or for a thread or process that has no region of its
// own. --plan says on standard error which regions there are, and their steps. What the others do: settings.h.
#include "belongings.h"
#include "seed.h"
#include "settings.h"
#include "where.h"

#include <omp.h>

// The runtime reads them when it is loaded.
static void with_environment(char** arguments) {
  const char* cancellation = getenv("OMP_CANCELLATION");
  if (cancellation && strcmp(cancellation, "true") == 0) return;
  setenv("OMP_CANCELLATION", "true", 1);
  setenv("OMP_MAX_ACTIVE_LEVELS", "8", 1);
  execv("/proc/self/exe", arguments);
  _exit(126);
}

int main(int count, char** arguments) {
  with_environment(arguments);
  check_runtime();
  read_settings(count, arguments);
  omp_set_dynamic(0);
  prepare_belongings();
  for (int i = 0; i < settings.repeat; i++) run_seed(settings.seed + (unsigned long)i);
  return 0;
}
