/* barrier: it waits for all tasks, whoever has made them, and whoever runs them. */
#include "fulfiller.h"

/* Each member makes tasks of its own, or some of them do. */
static void made_by_each(int members, int rounds) {
  int done = 0;
#pragma omp parallel num_threads(members)
  for (int i = 1; i <= rounds; ++i) {
    const int me = omp_get_thread_num();
    const int mine = (i + me) % 3;
    for (int k = 0; k < mine; ++k) {
#pragma omp task shared(done)
      check_add(&done, 1);
    }
#pragma omp barrier
    int expected = 0;
    for (int r = 1; r <= i; ++r)
      for (int m = 0; m < members; ++m) expected += (r + m) % 3;
    CHECK_EQ(check_load(&done), expected);
#pragma omp barrier
  }
}

/* The others wait in the barrier already, and have no task of their own; then they have the next round's before them,
   perhaps before they know that this one is over. */
static void made_by_one(int members, int rounds) {
  int done = 0;
#pragma omp parallel num_threads(members)
  for (int i = 1; i <= rounds; ++i) {
    if (omp_get_thread_num() == i % members) {
      for (int k = 0; k < 2 * members; ++k) {
#pragma omp task shared(done)
        {
          check_work(200);
          check_add(&done, 1);
        }
      }
    }
#pragma omp barrier
    CHECK_GE(check_load(&done), 2 * members * i);
  }
  CHECK_EQ(done, 2 * members * rounds);
}

static void grow(int depth, int* done) {
  for (int k = 0; depth > 0 && k < 2; ++k) {
#pragma omp task
    grow(depth - 1, done);
  }
  check_add(done, 1);
}

/* Tasks that make tasks: of those that one member has taken from another, others take some again. */
static void made_by_tasks(int members, int rounds) {
  int done = 0;
#pragma omp parallel num_threads(members)
  for (int i = 1; i <= rounds; ++i) {
    if (omp_get_thread_num() == members - 1) {
#pragma omp task shared(done)
      grow(5, &done);
    }
#pragma omp barrier
    CHECK_EQ(check_load(&done), 63 * i);
#pragma omp barrier
  }
}

/* The first task of a team, made while the others wait. */
static void first_of_all(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    int done = 0;
#pragma omp parallel num_threads(3)
    {
      if (omp_get_thread_num() == 1) {
        check_work(500 * (i % 8));
#pragma omp task shared(done)
        check_add(&done, 1);
      }
#pragma omp barrier
      CHECK_EQ(check_load(&done), 1);
    }
  }
}

static void in_order(int members, int rounds) {
  int value = 0;
#pragma omp parallel num_threads(members)
  for (int i = 0; i < rounds; ++i) {
    if (omp_get_thread_num() == 0) {
      for (int k = 0; k < 6; ++k) {
#pragma omp task depend(inout : value) shared(value) firstprivate(k)
        {
          CHECK_EQ(value % 6, k);
          ++value;
        }
      }
    }
#pragma omp barrier
    CHECK_EQ(value, 6 * (i + 1));
#pragma omp barrier
  }
}

/* The last that a barrier waits for is told by a thread from outside, and may make another task ready. (libgomp 12 does
   not come out of such a barrier.) */
static void told_from_outside(int members, int rounds) {
  int told = 0, after = 0;
  if (getenv("CHECK_RUNTIME") == NULL) return;
#pragma omp parallel num_threads(members)
  for (int i = 1; i <= rounds; ++i) {
    if (omp_get_thread_num() == i % members) {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(told) depend(out : told)
      start_fulfiller(event, &told, 0);
      if (i % 2 == 0) {
#pragma omp task shared(told, after) depend(in : told)
        check_add(&after, check_load(&told) >= i);
      }
    }
#pragma omp barrier
    CHECK_EQ(check_load(&told), i);
    CHECK_EQ(check_load(&after), i / 2);
#pragma omp barrier
  }
}

static void body(void) {
  int members = omp_get_max_threads();
  if (members > 16) members = 16;
  made_by_each(members, CHECK_SCALE(200));
  made_by_one(members, CHECK_SCALE(400));
  made_by_tasks(members, CHECK_SCALE(50));
  first_of_all(CHECK_SCALE(100));
  in_order(members, CHECK_SCALE(50));
  told_from_outside(members, CHECK_SCALE(30));
}

CHECK_MAIN(body)
