/* Simple and nestable locks: set, unset, test, contention between members, teams and tasks.
 * (omp_init_lock_with_hint is declared by gcc 12's omp.h, but its libgomp does not export it.) */
#include "check.h"

static void simple(void) {
  omp_lock_t lock;
  int sum = 0, inside = 0;
  const int rounds = CHECK_SCALE(200);
  omp_init_lock(&lock);
#pragma omp parallel
  for (int i = 0; i < rounds; ++i) {
    omp_set_lock(&lock);
    CHECK_EQ(check_add(&inside, 1), 1);
    ++sum;
    check_add(&inside, -1);
    omp_unset_lock(&lock);
  }
  CHECK_EQ(sum, rounds * omp_get_max_threads());
  omp_destroy_lock(&lock);
}

static void test(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  CHECK_EQ(omp_test_lock(&lock), 1);
  CHECK_EQ(omp_test_lock(&lock), 0);
#pragma omp parallel num_threads(3)
  CHECK_EQ(omp_test_lock(&lock), 0);
  omp_unset_lock(&lock);
  int got = 0;
#pragma omp parallel num_threads(4)
  if (omp_test_lock(&lock)) check_add(&got, 1);
  CHECK_EQ(got, 1);
  omp_unset_lock(&lock);
  CHECK_EQ(omp_test_lock(&lock), 1);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
}

/* A lock is owned by a task, not by a thread: another member may not unset it, but it may wait for it. */
static void held_over_a_barrier(void) {
  omp_lock_t lock;
  int order = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 2) omp_set_lock(&lock);
#pragma omp barrier
    if (omp_get_thread_num() == 2) {
      check_work(100000);
      check_store(&order, 1);
      omp_unset_lock(&lock);
    } else {
      omp_set_lock(&lock);
      CHECK_EQ(check_load(&order), 1);
      omp_unset_lock(&lock);
    }
  }
  omp_destroy_lock(&lock);
}

static void nestable(void) {
  omp_nest_lock_t lock;
  int sum = 0;
  omp_init_nest_lock(&lock);
  omp_set_nest_lock(&lock);
  omp_set_nest_lock(&lock);
  CHECK_EQ(omp_test_nest_lock(&lock), 3);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) CHECK_EQ(omp_test_nest_lock(&lock), 0);
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
  omp_unset_nest_lock(&lock);
#pragma omp parallel
  for (int i = 0; i < 50; ++i) {
    omp_set_nest_lock(&lock);
    CHECK_EQ(omp_test_nest_lock(&lock), 2);
    ++sum;
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  CHECK_EQ(sum, 50 * omp_get_max_threads());
  CHECK_EQ(omp_test_nest_lock(&lock), 1);
  omp_unset_nest_lock(&lock);
  omp_destroy_nest_lock(&lock);
}

/* A nestable lock belongs to a task: another task cannot take it again, even on the same thread. */
static void nestable_between_tasks(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_set_nest_lock(&lock);
#pragma omp task if (0)
    CHECK_EQ(omp_test_nest_lock(&lock), 0);
#pragma omp task
    CHECK_EQ(omp_test_nest_lock(&lock), 0);
#pragma omp taskwait
    CHECK_EQ(omp_test_nest_lock(&lock), 2);
    omp_unset_nest_lock(&lock);
    omp_unset_nest_lock(&lock);
  }
  omp_destroy_nest_lock(&lock);
}

/* The bank: transfers lock two accounts in order. Members that wait for locks must not stop those that hold them. */
static void many_locks(void) {
  enum { ACCOUNTS = 16 };
  omp_lock_t locks[ACCOUNTS];
  int balance[ACCOUNTS], total = 0;
  for (int i = 0; i < ACCOUNTS; ++i) {
    omp_init_lock(&locks[i]);
    balance[i] = 100;
  }
#pragma omp parallel
  {
    unsigned seed = (unsigned)omp_get_thread_num() * 7919u + 1u;
    for (int i = 0; i < 100; ++i) {
      seed = seed * 1103515245u + 12345u;
      int from = (int)(seed >> 16) % ACCOUNTS, to = (int)(seed >> 20) % ACCOUNTS;
      if (from == to) continue;
      omp_set_lock(&locks[from < to ? from : to]);
      omp_set_lock(&locks[from < to ? to : from]);
      balance[from] -= 1;
      balance[to] += 1;
      omp_unset_lock(&locks[from]);
      omp_unset_lock(&locks[to]);
    }
  }
  for (int i = 0; i < ACCOUNTS; ++i) {
    total += balance[i];
    omp_destroy_lock(&locks[i]);
  }
  CHECK_EQ(total, 1600);
}

static void in_tasks(void) {
  omp_lock_t lock;
  int sum = 0;
  omp_init_lock(&lock);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 300; ++i) {
#pragma omp task shared(lock, sum)
    {
      omp_set_lock(&lock);
      ++sum;
      omp_unset_lock(&lock);
    }
  }
  CHECK_EQ(sum, 300);
  omp_destroy_lock(&lock);
}

/* Spinning with omp_test_lock on a lock that another member holds. */
static void test_loop(void) {
  omp_lock_t lock;
  int sum = 0;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 20; ++i) {
    while (!omp_test_lock(&lock)) {
#pragma omp taskyield
    }
    ++sum;
    omp_unset_lock(&lock);
  }
  CHECK_EQ(sum, 80);
  omp_destroy_lock(&lock);
}

static void body(void) {
  simple();
  test();
  held_over_a_barrier();
  nestable();
  nestable_between_tasks();
  many_locks();
  in_tasks();
  test_loop();
}

CHECK_MAIN(body)
