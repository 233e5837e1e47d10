// A thread that has been cancelled, and has not come to a cancellation point yet, opens a region: that is none, also
// where it is the first of the program, or asks for the number of CPUs. (Bug: it was unwound in the midst of the
// runtime's start, for which all others waited then.)
#include <pthread.h>
#include <time.h>

#include "check.h"

static int members, done;

static void count_members(void) {
  members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members += 1;
}

static void* open_region(void* argument) {
  // What the runtime has read of the machine when it was loaded is old by then, and it reads it anew.
  const struct timespec a_while = {0, 600 * 1000 * 1000};
  nanosleep(&a_while, NULL);
  pthread_cancel(pthread_self());
  if (omp_get_num_procs() < 1) return argument;
  count_members();
  check_store(&done, members);
  pthread_testcancel();
  return argument;
}

int main(void) {
  pthread_t thread;
  void* result = NULL;
  check_runtime();
  if (pthread_create(&thread, NULL, open_region, NULL) != 0) return 1;
  pthread_join(thread, &result);
  CHECK(result == PTHREAD_CANCELED);
  CHECK_EQ(check_load(&done), 4);
  count_members();
  CHECK_EQ(members, 4);
  return check_finish();
}
