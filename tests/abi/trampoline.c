/* Nested functions, GNU C's, whose address is taken: the compiler puts code on the stack of whoever takes it, and asks
 * for executable stacks. (Bug: members had none.) */
#include "check.h"

/* Not inlined, or there would be no code on the stack. */
__attribute__((noipa)) static int call(int (*function)(int), int argument) { return function(argument); }

__attribute__((noipa)) static int add_by_nested_function(int number, int waits) {
  int add(int other) { return number + other; }
  if (waits) {
#pragma omp barrier
  }
  return call(add, 1);
}

/* What one member has on its stack, all of its team call. */
__attribute__((noipa)) static int add_for_a_team(int number) {
  int add(int other) { return number + other; }
  int wrong = 0;
#pragma omp parallel num_threads(3) reduction(+ : wrong)
  wrong += call(add, omp_get_thread_num()) != number + omp_get_thread_num();
  return number + wrong;
}

static void body(void) {
  int right = 0;
#pragma omp parallel reduction(+ : right)
  for (int i = 0; i < 20; ++i) {
    const int me = omp_get_thread_num();
    right += add_by_nested_function(me, 0) == me + 1;
    right += add_by_nested_function(me, 1) == me + 1;
    right += add_for_a_team(me) == me;
  }
  int members = 0;
#pragma omp parallel reduction(+ : members)
  members += 1;
  CHECK_EQ(right, members * 60);
  int sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task shared(sum)
    check_add(&sum, add_by_nested_function(i, 0));
  }
  CHECK_EQ(sum, 5050);
}

CHECK_MAIN(body)
