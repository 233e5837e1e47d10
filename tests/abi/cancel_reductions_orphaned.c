/* Reductions with the task modifier in constructs that the compiler sees no region around, while the region is
 * cancelled. Nobody waits for anybody then: the first member leaves, and uses its memory for something else, while
 * another one works on its copy, or has yet to enter the construct. */
#include <sched.h>

#include "check.h"

enum { MEMBERS = 3, ROUNDS = 20 };
enum construct { FOR, SECTIONS, SCOPE, CONSTRUCTS };

static int sum;
static struct {
  int late; /* the other one enters when the first is gone */
  int first_in, other_in, gone, other_out, seen;
} run;

static void await(int* flag) {
  while (!check_load(flag)) sched_yield();
}

/* The block of a construct, by whoever comes to it, with the copy that is its own. */
static __attribute__((noinline)) void visit(volatile int* copy) {
  if (omp_get_thread_num() == 0) {
    check_store(&run.first_in, 1);
    if (!run.late) await(&run.other_in);
    return;
  }
  *copy += 7;
  check_store(&run.other_in, 1);
  await(&run.gone);
  run.seen = *copy;
}

static __attribute__((noinline)) void orphaned(enum construct construct) {
  if (construct == FOR) {
#pragma omp for schedule(static, 1) reduction(task, + : sum)
    for (int i = 0; i < MEMBERS; ++i) visit(&sum);
  } else if (construct == SECTIONS) {
#pragma omp sections reduction(task, + : sum)
    {
#pragma omp section
      visit(&sum);
#pragma omp section
      visit(&sum);
    }
  } else {
#pragma omp scope reduction(task, + : sum)
    visit(&sum);
  }
}

/* Takes what has been on the stack, and memory of the copies' size that has been given back. */
static __attribute__((noinline)) void use_memory(void) {
  char stack[8192];
  void* block = NULL;
  memset(stack, 0x5a, sizeof stack);
  __asm__ volatile("" : : "r"(stack) : "memory");
  CHECK_EQ(posix_memalign(&block, 64, 192), 0);
  memset(block, 0x5a, 192);
  __asm__ volatile("" : : "r"(block) : "memory");
  check_store(&run.gone, 1);
  await(&run.other_out);
  free(block);
}

static void cancelled(enum construct construct, int late) {
  memset(&run, 0, sizeof run);
  run.late = late;
#pragma omp parallel num_threads(MEMBERS)
  {
    const int me = omp_get_thread_num();
    if (me == 0) {
      orphaned(construct);
      use_memory();
    } else if (me == 1) {
      await(late ? &run.first_in : &run.other_in);
#pragma omp cancel parallel
    } else {
      await(late ? &run.gone : &run.first_in);
      orphaned(construct);
      check_store(&run.other_out, 1);
    }
  }
  /* The first one has executed all sections by the time that the other comes late. */
  CHECK_EQ(run.seen, construct == SECTIONS && late ? 0 : 7);
}

static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  for (int round = 0; round < ROUNDS; ++round)
    for (int construct = FOR; construct < CONSTRUCTS; ++construct)
      for (int late = 0; late < 2; ++late) cancelled((enum construct)construct, late);
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  check_need_variable("MALLOC_PERTURB_", "165", argv); /* memory is not what it was once it is freed */
  return check_run_flat(body);
}
