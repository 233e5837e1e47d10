#include "wait.h"

#include "where.h"

#include <sched.h>

void wait_for(atomic_int* what, int least, enum Way way) {
  const int error = errno;
  while (atomic_load(what) < least) {
    if (way == pausing) __builtin_ia32_pause();
    if (way == yielding) CHECK_EQUAL(sched_yield(), 0, "sched_yield()");
    if (way == sleeping) sleep_seconds(20e-6);
  }
  if (way == sleeping) errno = error;
}
