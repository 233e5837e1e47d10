/* Dependences on so many addresses, by iterators, that clang's list of them takes most of the stack, 24 bytes for each.
 * The stacks are small, since libomp compares each address with each. */
#include <sys/resource.h>

#include "check.h"

enum { ON_MAIN_STACK = 30000, ON_MEMBER_STACK = 15000 };

static __attribute__((noinline)) void begin_task(char* a, int n, int* done) {
  (void)a;
#pragma omp task depend(iterator(i = 0 : n), out : a[i]) firstprivate(done)
  {
    check_work(10000);
    check_add(done, 1);
  }
}

static __attribute__((noinline)) void await_task(char* a, int n) {
  (void)a;
#pragma omp taskwait depend(iterator(i = 0 : n), in : a[i])
}

static void ordered_by_many(int n) {
  char* a = (char*)calloc((size_t)n, 1);
  int done = 0;
  for (int round = 1; round <= 2; ++round) {
    begin_task(a, n, &done);
    await_task(a, n);
    CHECK_EQ(check_load(&done), round);
  }
  free(a);
}

static void body(void) {
  ordered_by_many(ON_MAIN_STACK);
#pragma omp parallel num_threads(3)
  {
    ordered_by_many(omp_get_thread_num() == 0 ? ON_MAIN_STACK : ON_MEMBER_STACK);
#pragma omp barrier
#pragma omp single
    ordered_by_many(ON_MEMBER_STACK);
  }
}

int main(int argc, char** argv) {
  (void)argc;
  struct rlimit stack;
  getrlimit(RLIMIT_STACK, &stack);
  stack.rlim_cur = (rlim_t)1 << 20; /* counts for the program that is started anew */
  setrlimit(RLIMIT_STACK, &stack);
  check_need_variable("OMP_STACKSIZE", "512K", argv);
  return check_run_flat(body);
}
