/* Thread-local storage of whoever opens inner regions, behind them. In a process that begins, where identities are
 * given out for the first time. (Bug: one whose members others had all taken went on with another's.) */
#include "check.h"

#include <pthread.h>

static _Thread_local int own;
static int last;

/* Not inlined: the compiler may keep the address of what is thread-local for as long as a function runs. */
__attribute__((noipa)) static int* address_of_own(void) { return &own; }
__attribute__((noipa)) static pthread_t self(void) { return pthread_self(); }

static void nest(int level, int deepest) {
  const int before = own;
  const int number = check_add(&last, 1);
  own = number;
  int* const address = address_of_own();
  const pthread_t me = self();
  for (int i = 0; level < deepest && i < 2; ++i) {
#pragma omp parallel num_threads(2)
    nest(level + 1, deepest);
    CHECK(address_of_own() == address);
    CHECK(pthread_equal(self(), me));
    CHECK_EQ(*address_of_own(), number);
  }
  *address_of_own() = before;
}

static void body(void) {
  omp_set_max_active_levels(8);
  for (int i = 0; i < 2; ++i) nest(0, 3);
}

CHECK_MAIN_FLAT(body)
