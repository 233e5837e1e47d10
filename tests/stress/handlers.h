// Signals: handlers, what is blocked, and timers that send them.
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

__attribute__((unused)) static sigset_t one_signal(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}

// For the calling thread or member; `how`: SIG_BLOCK or SIG_UNBLOCK.
__attribute__((unused)) static void set_blocked(int how, int number) {
  const sigset_t set = one_signal(number);
  CHECK_EQUAL(pthread_sigmask(how, &set, NULL), 0, "pthread_sigmask");
}

// 0: the timer sends no more.
__attribute__((unused)) static void start_timer(__itimer_which_t which, long microseconds) {
  struct itimerval timer;
  timer.it_interval.tv_sec = 0;
  timer.it_interval.tv_usec = microseconds;
  timer.it_value = timer.it_interval;
  CHECK(setitimer(which, &timer, NULL) == 0, "setitimer: %s", strerror(errno));
}

__attribute__((unused)) static void start_timer_once(__itimer_which_t which, long microseconds) {
  const struct itimerval timer = {{0, 0}, {0, microseconds}};
  CHECK(setitimer(which, &timer, NULL) == 0, "setitimer: %s", strerror(errno));
}

__attribute__((unused)) static char* alternate;
enum { alternate_size = 65536 };

// The calling thread's stack for handlers with SA_ONSTACK, from now on.
__attribute__((unused)) static void set_alternate_stack(void) {
  alternate = malloc(alternate_size);
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = alternate;
  stack.ss_size = alternate_size;
  CHECK(sigaltstack(&stack, NULL) == 0, "sigaltstack: %s", strerror(errno));
}

#endif
