// A program that blocks all signals and waits for them gets its own, and none of those by which the runtime interrupts
// members that compute while others wait. (Bug: one stayed pending on the program's thread.)
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "check.h"

enum { members = 8 };

static void compute(double seconds) {
  const double end = omp_get_wtime() + seconds;
  while (omp_get_wtime() < end) check_work(10000);
}

int main(void) {
  sigset_t all;
  siginfo_t info = {0};
  const struct timespec a_while = {0, 50 * 1000 * 1000};
  int sum = 0;
  check_runtime();
#pragma omp parallel num_threads(members) reduction(+ : sum)
  sum += 1;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
    compute(0.04);
    sum += 1;
  }
  CHECK_EQ(sum, 2 * members);
  CHECK_EQ(sigtimedwait(&all, &info, &a_while), -1);
  CHECK_EQ(errno, EAGAIN);
  kill(getpid(), SIGUSR1);
  CHECK_EQ(sigtimedwait(&all, &info, &a_while), SIGUSR1);
  return check_finish();
}
