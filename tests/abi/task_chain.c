/* Chains of a million tasks: nested in each other, with and without waits, inside of final ones, outside any region,
 * and by dependences. They need memory, but not more stack the longer they are. libgomp 12 runs out of stack where
 * tasks wait, are not deferred, or are nested outside a region: there the chain is short. */
#include "check.h"

enum { MILLION = 1000000, SANITIZED = 20000, SHORT = 1000 };

static int longest, length;

static void nested(int left, int* count) {
  check_add(count, 1);
  if (left > 1) {
#pragma omp task
    nested(left - 1, count);
  }
}

static void nested_with_wait(int left, int* count) {
  check_add(count, 1);
  if (left > 1) {
#pragma omp task
    nested_with_wait(left - 1, count);
#pragma omp taskwait
  }
}

static void undeferred(int left, int* count) {
  check_add(count, 1);
  if (left > 1) {
#pragma omp task if (0) untied
    undeferred(left - 1, count);
  }
}

static void included(int left, int* count) {
  check_add(count, 1);
  if (left > 1) {
#pragma omp task final(1) mergeable
    included(left - 1, count);
  }
}

static void dependent(int tasks, int* count) {
  for (int i = 0; i < tasks; ++i) {
#pragma omp task depend(inout : *count)
    if (*count == i) *count = i + 1;
  }
}

static void exclusive(int tasks, int* count) {
  for (int i = 0; i < tasks; ++i) {
#pragma omp task depend(mutexinoutset : *count)
    ++*count;
  }
}

static void check_chain(void (*chain)(int, int*), int tasks) {
  int count = 0;
#pragma omp parallel
#pragma omp single
  chain(tasks, &count);
  CHECK_EQ(count, tasks);
}

static void body(void) {
  int count = 0;
  longest = check_sanitized() ? SANITIZED : MILLION;
  length = getenv("CHECK_RUNTIME") != NULL && !check_sanitized() ? MILLION : SHORT;
  check_chain(nested, longest);
  check_chain(nested_with_wait, length);
#ifdef __clang__ /* whose code calls the body itself, on the stack it has */
  check_chain(undeferred, SHORT);
#else
  check_chain(undeferred, length);
#endif
  check_chain(included, length);
  check_chain(dependent, longest);
  check_chain(exclusive, longest);
  nested(length, &count);
  nested_with_wait(length, &count);
  CHECK_EQ(count, 2 * length);
}

CHECK_MAIN_FLAT(body)
