/* task: creation by one and by all members, data sharing, taskwait, if(0), undeferred and included tasks. */
#include "check.h"

static void by_one_member(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 200; ++i) {
#pragma omp task shared(done) firstprivate(i)
      {
        CHECK(i >= 0 && i < 200);
        check_add(&done, 1);
      }
    }
#pragma omp taskwait
    CHECK_EQ(check_load(&done), 200);
  }
  CHECK_EQ(done, 200);
}

static void by_every_member(void) {
  int done = 0;
  const int members = omp_get_max_threads();
#pragma omp parallel
  {
    int mine = 0;
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done, mine)
      {
        check_add(&done, 1);
        check_add(&mine, 1);
      }
    }
#pragma omp taskwait
    CHECK_EQ(check_load(&mine), 20);
  }
  CHECK_EQ(done, 20 * members);
}

/* The barrier at the end of a region, and an explicit one, complete all tasks of the team. */
static void barriers_complete_tasks(void) {
  int done = 0;
#pragma omp parallel
  {
#pragma omp master
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(done)
      {
        check_work(500);
        check_add(&done, 1);
      }
    }
#pragma omp barrier
    CHECK_EQ(check_load(&done), 50);
#pragma omp barrier
#pragma omp single nowait
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(done)
      {
        check_work(500);
        check_add(&done, 1);
      }
    }
  }
  CHECK_EQ(done, 100);
}

static void if_false_is_undeferred(void) {
#pragma omp parallel
  {
    int local = 0;
    const int me = omp_get_thread_num();
#pragma omp task if (0) shared(local)
    {
      CHECK_EQ(omp_get_thread_num(), me);
      local = 1;
#pragma omp task shared(local)
      check_add(&local, 1);
#pragma omp taskwait
    }
    CHECK_EQ(local, 2);
  }
}

/* taskwait waits for children only; the enclosing barrier waits for the grandchildren. */
static void children_and_grandchildren(void) {
  int children = 0, grandchildren = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 20; ++i) {
#pragma omp task shared(children, grandchildren)
      {
#pragma omp task shared(grandchildren)
        {
          check_work(1000);
          check_add(&grandchildren, 1);
        }
        check_add(&children, 1);
      }
    }
#pragma omp taskwait
    CHECK_EQ(check_load(&children), 20);
  }
  CHECK_EQ(children, 20);
  CHECK_EQ(grandchildren, 20);
}

static void firstprivate_payloads(void) {
  typedef struct {
    int values[100];
  } payload;
  payload data;
  int good = 0;
  char tag = 'w';
  long double wide = 1.5L;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < 100; ++k) data.values[k] = i + k;
#pragma omp task firstprivate(data, i, tag, wide) shared(good)
    {
      int same = tag == 'w' && wide == 1.5L && (size_t)&wide % _Alignof(long double) == 0;
      for (int k = 0; k < 100; ++k) same &= data.values[k] == i + k;
      check_add(&good, same);
    }
  }
  CHECK_EQ(good, 50);
}

static void orphaned(int* done, int n) {
#pragma omp task firstprivate(done)
  check_add(done, 1);
  if (n > 1) orphaned(done, n - 1);
}

static void worksharing_around_tasks(void) {
  int done = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 40; ++i) orphaned(&done, 3);
    CHECK_EQ(check_load(&done), 120);
  }
}

static void body(void) {
  by_one_member();
  by_every_member();
  barriers_complete_tasks();
  if_false_is_undeferred();
  children_and_grandchildren();
  firstprivate_payloads();
  worksharing_around_tasks();
}

CHECK_MAIN(body)
