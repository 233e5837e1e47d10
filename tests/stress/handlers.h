// Handlers of signals, and timers that send them.
#ifndef WEFT_TESTS_STRESS_HANDLERS_H
#define WEFT_TESTS_STRESS_HANDLERS_H

#include "check.h"

#include <signal.h>
#include <sys/time.h>

__attribute__((unused)) static void install(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(number, &action, NULL) == 0, "sigaction: %s", strerror(errno));
}

// 0: the timer sends no more.
__attribute__((unused)) static void start_timer(__itimer_which_t which, long microseconds) {
  struct itimerval timer;
  timer.it_interval.tv_sec = 0;
  timer.it_interval.tv_usec = microseconds;
  timer.it_value = timer.it_interval;
  CHECK(setitimer(which, &timer, NULL) == 0, "setitimer: %s", strerror(errno));
}

#endif
