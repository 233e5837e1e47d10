/* Loops over unsigned long long whose chunk is so large that it were negative if it were signed: all that there is to
 * do is one chunk. Whoever has got it lets others come before it goes on. */

#include "check.h"

typedef unsigned long long ull;

enum { TRIPS = 500, MEMBERS = 4 };
static const ull huge = 1ULL << 63;
static ull trips = TRIPS; /* not known to the compiler, which takes loops of few iterations for signed ones */
static int last;

struct seen {
  int by[MEMBERS];
};

static void visit(struct seen* seen, ull i) {
  check_add(&seen->by[omp_get_thread_num()], 1);
  if (i == 0) usleep(10000);
}

static void check_one_has_done_all(const struct seen* seen) {
  int busy = 0;
  for (int member = 0; member < MEMBERS; ++member) {
    if (seen->by[member] == 0) continue;
    ++busy;
    CHECK_EQ(seen->by[member], TRIPS);
  }
  CHECK_EQ(busy, 1);
}

static void dynamic_loop(void) {
  struct seen seen = {{0}};
#pragma omp parallel for schedule(dynamic, huge) num_threads(MEMBERS)
  for (ull i = 0; i < trips; ++i) visit(&seen, i);
  check_one_has_done_all(&seen);
}

static void with_task_reduction(void) {
  struct seen seen = {{0}};
  ull sum = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp for schedule(dynamic, huge) reduction(task, + : sum)
  for (ull i = 0; i < trips; ++i) {
    sum += i;
    visit(&seen, i);
  }
  CHECK_EQ(sum, TRIPS * (TRIPS - 1) / 2);
  check_one_has_done_all(&seen);
}

static void in_order(struct seen* seen) {
#pragma omp for schedule(dynamic, huge) ordered lastprivate(conditional : last)
  for (ull i = 0; i < trips; ++i) {
#pragma omp ordered
    visit(seen, i);
    if (i % 100 == 0) last = (int)i;
  }
}

static void ordered_loop(void) {
  struct seen seen = {{0}};
#pragma omp parallel num_threads(MEMBERS)
  in_order(&seen);
  CHECK_EQ(last, 400);
  check_one_has_done_all(&seen);
}

static void after_one_another(void) {
  struct seen seen = {{0}};
#pragma omp parallel num_threads(MEMBERS)
#pragma omp for schedule(dynamic, huge) ordered(1)
  for (ull i = 0; i < trips; ++i) {
#pragma omp ordered depend(sink : i - 1)
    visit(&seen, i);
#pragma omp ordered depend(source)
  }
  check_one_has_done_all(&seen);
}

static void body(void) {
  __asm__ volatile("" : "+m"(trips));
  for (int round = 0; round < 5; ++round) {
    dynamic_loop();
    with_task_reduction();
    ordered_loop();
    after_one_another();
  }
}

CHECK_MAIN_FLAT(body)
