/* nowait: chains of several hundred loops, sections and singles with a slow member, that the others run ahead of. */
#include <unistd.h>

#include "check.h"

enum { LOOPS = 300, TRIPS = 24 };

static void dynamic_chain(int (*times)[TRIPS]) {
#pragma omp parallel
  for (int loop = 0; loop < LOOPS; ++loop) {
    if (omp_get_thread_num() == omp_get_num_threads() - 1 && loop % 100 == 0) check_work(300000);
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < TRIPS; ++i) check_add(&times[loop][i], 1);
  }
  for (int loop = 0; loop < LOOPS; ++loop)
    for (int i = 0; i < TRIPS; ++i) CHECK_EQ(times[loop][i], 1);
}

/* Different constructs in turn. */
static void mixed_chain(int (*times)[TRIPS]) {
  int sections[LOOPS] = {0}, singles[LOOPS] = {0};
#pragma omp parallel
  for (int loop = 0; loop < LOOPS; ++loop) {
    if (omp_get_thread_num() == 0 && loop == 1) check_work(1000000);
    switch (loop % 5) {
      case 0:
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < TRIPS; ++i) check_add(&times[loop][i], 1);
        break;
      case 1:
#pragma omp for schedule(static, 2) nowait
        for (long long i = 0; i < TRIPS; ++i) check_add(&times[loop][i], 1);
        break;
      case 2:
#pragma omp for schedule(monotonic : dynamic, 5) nowait
        for (unsigned long long i = 0; i < TRIPS; ++i) check_add(&times[loop][i], 1);
        break;
      case 3:
#pragma omp sections nowait
      {
        check_add(&sections[loop], 1);
#pragma omp section
        check_add(&sections[loop], 10);
#pragma omp section
        check_add(&sections[loop], 100);
      } break;
      default:
#pragma omp single nowait
        check_add(&singles[loop], 1);
    }
  }
  for (int loop = 0; loop < LOOPS; ++loop) {
    CHECK_EQ(sections[loop], loop % 5 == 3 ? 111 : 0);
    CHECK_EQ(singles[loop], loop % 5 == 4);
    for (int i = 0; i < TRIPS; ++i) CHECK_EQ(times[loop][i], loop % 5 < 3);
  }
}

/* An ordered loop with nowait, behind and before others. */
static void ordered_chain(void) {
  enum { COUNT = 60 };
  int next[COUNT] = {0}, wrong = 0;
#pragma omp parallel
  for (int loop = 0; loop < COUNT; ++loop) {
    if (omp_get_thread_num() == 1 && loop == 3) check_work(300000);
#pragma omp for ordered schedule(dynamic, 2) nowait
    for (int i = 0; i < TRIPS; ++i) {
#pragma omp ordered
      {
        if (next[loop] != i) check_add(&wrong, 1);
        next[loop] = i + 1;
      }
    }
  }
  CHECK_EQ(wrong, 0);
  for (int loop = 0; loop < COUNT; ++loop) CHECK_EQ(next[loop], TRIPS);
}

/* nowait really does not wait: a loop of one iteration that needs the rest of the team to go on. */
static void no_barrier(void) {
  if (omp_get_max_threads() < 2) return;
  omp_lock_t gate;
  int passed = 0;
  omp_init_lock(&gate);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) omp_set_lock(&gate);
#pragma omp barrier
#pragma omp for schedule(static, 1) nowait
    for (int i = 0; i < 2; ++i)
      if (i == 1) {
        omp_set_lock(&gate); /* member 0 opens it behind the loop */
        check_add(&passed, 1);
        omp_unset_lock(&gate);
      }
    if (omp_get_thread_num() == 0) omp_unset_lock(&gate);
  }
  CHECK_EQ(passed, 1);
  omp_destroy_lock(&gate);
}

static void some_constructs(int* times) {
#pragma omp for schedule(dynamic) nowait
  for (int i = 0; i < TRIPS; ++i) check_add(times, 1);
#pragma omp for schedule(guided) nowait
  for (long long i = 0; i < TRIPS; ++i) check_add(times, 1);
#pragma omp sections nowait
  {
    check_add(times, 1);
#pragma omp section
    check_add(times, 1);
  }
#pragma omp for ordered schedule(dynamic) nowait
  for (int i = 0; i < TRIPS; ++i) {
#pragma omp ordered
    check_add(times, 1);
  }
}

/* Bug: who was eight constructs ahead waited for the others, which waited for what it does afterwards. Each member in
 * turn is ahead of those that come later. */
static void far_ahead(void) {
#ifdef __clang__
  if (getenv("CHECK_RUNTIME") == NULL) return; /* libomp waits, too */
#endif
  enum { MEMBERS = 4, ROUNDS = 25, OF_ALL = 3 * TRIPS + 2 };
  int turn = 0, times[ROUNDS] = {0};
#pragma omp parallel num_threads(MEMBERS)
  {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != omp_get_thread_num() && omp_get_num_threads() == MEMBERS)
      usleep(1000);
    for (int round = 0; round < ROUNDS; ++round) some_constructs(&times[round]);
    __atomic_fetch_add(&turn, 1, __ATOMIC_RELEASE);
  }
  for (int round = 0; round < ROUNDS; ++round) CHECK_EQ(times[round], OF_ALL);
}

static void body(void) {
  int(*times)[TRIPS] = (int(*)[TRIPS])calloc(LOOPS, sizeof *times);
  dynamic_chain(times);
  memset(times, 0, LOOPS * sizeof *times);
  mixed_chain(times);
  ordered_chain();
  no_barrier();
  far_ahead();
  free(times);
}

CHECK_MAIN(body)
