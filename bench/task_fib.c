// The n-th Fibonacci number by the recursive definition, a task for each of the two calls: nothing but tasks.
#include "task_program.h"

static int size;
static long result;

static long fib(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static void prepare(int n) { size = n; }
static void solve(void) { result = fib(size); }

static bool is_right(void) {
  long a = 0, b = 1;
  for (int i = 0; i < size; i++) {
    const long next = a + b;
    a = b;
    b = next;
  }
  return result == a;
}

int main(int argc, char** argv) {
  const TaskProgram program = {"task_fib", 25, prepare, solve, is_right};
  return run_task_program(argc, argv, &program);
}
