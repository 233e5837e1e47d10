/* What a task sees of the thread it runs on: a valid number, one that no other running task has, and the same one
 * all along if the task is tied. The threadprivate data is that thread's. */
#include "check.h"

enum { ROOM = 256 };

static int private_tag;
#pragma omp threadprivate(private_tag)

static void numbers_are_valid_and_distinct(void) {
  int running[ROOM] = {0}, done = 0;
  const int n = CHECK_SCALE(400);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task shared(running, done)
    {
      /* No scheduling point in here, so a second task with this number would have to run at the same time. */
      const int me = omp_get_thread_num();
      CHECK(me >= 0 && me < omp_get_num_threads());
      CHECK_EQ(check_add(&running[me], 1), 1);
      check_work(300);
      CHECK_EQ(omp_get_thread_num(), me);
      check_add(&running[me], -1);
      check_add(&done, 1);
    }
  }
  CHECK_EQ(done, n);
}

static void tied_tasks_stay(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 60; ++i) {
#pragma omp task shared(done)
    {
      const int me = omp_get_thread_num();
      for (int k = 0; k < 5; ++k) {
#pragma omp task
        check_work(100);
#pragma omp taskyield
        CHECK_EQ(omp_get_thread_num(), me);
      }
#pragma omp taskwait
      CHECK_EQ(omp_get_thread_num(), me);
      check_add(&done, 1);
    }
  }
  CHECK_EQ(done, 60);
}

/* The member that waits at a barrier or in taskwait keeps its number whatever it runs meanwhile. */
static void members_stay(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    for (int k = 0; k < 10; ++k) {
#pragma omp task
      check_work(100);
#pragma omp taskwait
      CHECK_EQ(omp_get_thread_num(), me);
#pragma omp task
      check_work(100);
#pragma omp taskyield
      CHECK_EQ(omp_get_thread_num(), me);
#pragma omp barrier
      CHECK_EQ(omp_get_thread_num(), me);
    }
  }
}

/* An undeferred task runs on the thread that creates it. */
static void undeferred_tasks_stay(void) {
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
#pragma omp task if (0)
    CHECK_EQ(omp_get_thread_num(), me);
#pragma omp task final(1)
    {
      const int here = omp_get_thread_num();
#pragma omp task
      CHECK_EQ(omp_get_thread_num(), here);
    }
  }
}

/* A threadprivate variable in a task is the one of the thread that runs it: the same address as the member has. */
static void threadprivate_of_the_thread(void) {
  const int* address[ROOM] = {NULL};
  int done = 0;
#pragma omp parallel
  {
    private_tag = omp_get_thread_num() + 1000;
    address[omp_get_thread_num()] = &private_tag;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 200; ++i) {
#pragma omp task shared(address, done)
      {
        CHECK_EQ(private_tag, omp_get_thread_num() + 1000);
        CHECK(address[omp_get_thread_num()] == &private_tag);
        check_work(100);
        check_add(&done, 1);
      }
    }
  }
  CHECK_EQ(done, 200);
}

/* The same after a tied task was suspended: it reads what its own thread wrote. */
static void threadprivate_over_suspension(void) {
  int done = 0;
#pragma omp parallel
  {
    private_tag = omp_get_thread_num() + 2000;
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(done)
      {
        const int* const before = &private_tag;
        CHECK_EQ(private_tag, omp_get_thread_num() + 2000);
#pragma omp task
        check_work(200);
#pragma omp taskwait
        CHECK_EQ(private_tag, omp_get_thread_num() + 2000);
#pragma omp task
        check_work(200);
#pragma omp taskyield
        CHECK(before == &private_tag);
        check_add(&done, 1);
      }
    }
  }
  CHECK_EQ(done, 50);
}

static void body(void) {
  numbers_are_valid_and_distinct();
  tied_tasks_stay();
  members_stay();
  undeferred_tasks_stay();
  if (check_sanitized()) return;
  threadprivate_of_the_thread();
  threadprivate_over_suspension();
}

CHECK_MAIN(body)
