/* Cancellation of parallel, for, sections and taskgroup regions, with cancel-var true. */

#include "check.h"

/* Members that wait in a barrier are released, those that compute find out at a cancellation point, and the next region
 * is as if nothing had been. */
static void parallel_region(void) {
  for (int round = 0; round < 10; ++round) {
    int before = 0, after = 0, members = 0, cancelled = 0;
#pragma omp parallel
    {
#pragma omp atomic write
      members = omp_get_num_threads();
      check_add(&before, 1);
      if (omp_get_thread_num() == round % omp_get_num_threads()) {
        check_add(&cancelled, 1);
#pragma omp cancel parallel
        check_add(&after, 1);
      }
      if (omp_get_thread_num() % 2 == 0) {
        for (;;) {
#pragma omp cancellation point parallel
          check_work(100);
        }
      }
#pragma omp barrier
      check_add(&after, 1);
    }
    CHECK_EQ(before, members);
    CHECK_EQ(cancelled, 1);
    CHECK_EQ(after, 0);
#pragma omp parallel
    {
#pragma omp barrier
      check_add(&after, 1);
#pragma omp barrier
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 10; ++i) check_add(&after, 1);
    }
    CHECK_EQ(after, members + 10);
  }
}

/* if (false) does nothing; it is a cancellation point all the same. */
static void conditions(void) {
  int after = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp cancel parallel if (check_load(&after) < 0)
    check_add(&after, 1);
#pragma omp barrier
#pragma omp single nowait
    { check_add(&after, 10); }
#ifndef __clang__ /* which leaves out a cancel construct whose condition is false, though it is a cancellation point \
                   */
#pragma omp cancel parallel if (omp_get_thread_num() == 0)
    for (;;) {
#pragma omp cancel parallel if (check_load(&after) < 0)
      check_work(10);
    }
#endif
  }
  CHECK_EQ(after, 12);
}

/* The members meet at the loop's end, and the region goes on. */
static void loops(void) {
  const int members = omp_get_max_threads();
  for (int kind = 0; kind < 2; ++kind) {
    int runs = 0, after = 0, second = 0;
#pragma omp parallel
    {
      if (kind == 0) {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 100000; ++i) {
          check_add(&runs, 1);
#pragma omp cancel for if (i % 50 == 7) /* one of them may be the last that is run */
          for (int k = 0; k < 10; ++k) {
            check_work(10);
          }
#pragma omp cancellation point for
        }
      } else {
#pragma omp for schedule(static)
        for (int i = 0; i < 100000; ++i) {
          check_add(&runs, 1);
#pragma omp cancel for if (i % 50 == 7)
          check_work(10);
#pragma omp cancellation point for
        }
      }
      check_add(&after, 1);
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 50; ++i) {
#pragma omp cancellation point for
        check_add(&second, 1);
      }
    }
    CHECK_LE(runs, 99999);
    CHECK_LE(after, members);
    CHECK_GE(after, 1);
    CHECK_EQ(second, 50);
  }
}

static void sections(void) {
  int begun = 0, through = 0, after = 0;
#pragma omp parallel num_threads(2)
  {
#pragma omp sections
    {
#pragma omp section
      {
        check_add(&begun, 1);
#pragma omp cancel sections
        check_add(&through, 1);
      }
#pragma omp section
      {
        check_add(&begun, 1);
        for (;;) {
#pragma omp cancellation point sections
          check_work(10);
        }
      }
    }
    check_add(&after, 1);
#pragma omp sections
    {
#pragma omp section
      check_add(&after, 1);
#pragma omp section
      check_add(&after, 1);
    }
  }
  CHECK_GE(begun, 1);
  CHECK_EQ(through, 0);
  CHECK_GE(after, 3);
}

/* Tasks that have not begun are discarded, also those that depend on others; the group ends. */
static void taskgroups(void) {
  int runs = 0, outside = 0, found = 0, token = 0;
  (void)token; /* only its address matters */
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(outside)
    check_add(&outside, 1);
#pragma omp taskgroup
    {
      for (int i = 0; i < 2000; ++i) {
#pragma omp task shared(runs, found) depend(inout : token)
        {
          check_add(&runs, 1);
          if (i == 20) {
            check_add(&found, 1);
#pragma omp cancel taskgroup
            check_add(&found, 100);
          }
#pragma omp cancellation point taskgroup
        }
      }
    }
#pragma omp taskgroup
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(outside)
      {
#pragma omp cancellation point taskgroup
        check_add(&outside, 1);
      }
    }
#pragma omp taskwait
  }
  CHECK_EQ(found, 1);
  CHECK_EQ(runs, 21);
  CHECK_EQ(outside, 51);
}

/* Tasks below those of the group belong to it as well. */
static void search(int depth, int* visited, int* found) {
  for (int i = 0; i < 2; ++i) {
#pragma omp task
    {
      check_add(visited, 1);
      if (depth == 0) {
        check_store(found, 1);
#pragma omp cancel taskgroup
      }
      search(depth - 1, visited, found);
#pragma omp taskwait
    }
  }
}

static void descendants(void) {
  int visited = 0, found = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task shared(visited, found)
    search(12, &visited, &found);
  }
  CHECK_EQ(found, 1);
  CHECK_LE(visited, (1 << 14) - 2);
}

/* cancel parallel discards the region's tasks; none of their memory is lost (valgrind and asan see to that). */
static void tasks_of_a_region(void) {
  int runs = 0;
#pragma omp parallel
  {
    if (omp_get_thread_num() == 0) {
      for (int i = 0; i < 200; ++i) {
#pragma omp task shared(runs)
        {
          check_work(2000);
          check_add(&runs, 1);
        }
      }
#pragma omp cancel parallel
    }
#pragma omp cancellation point parallel
#pragma omp barrier
    check_work(10);
  }
  CHECK_LE(runs, 200);
}

/* taskloop, and reductions in a cancelled group. */
static void taskloops(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop grainsize(1) reduction(+ : sum)
    for (int i = 0; i < 300; ++i) {
      sum += 1;
#pragma omp cancel taskgroup if (i == 3)
    }
  }
  CHECK_GE(sum, 1);
  CHECK_LE(sum, 300);
}

static volatile int never = -1; /* compilers leave out cancellation points of what has no cancel construct */

/* A loop that is cancelled is over for all, again and again in one region; those between are not cancelled. */
static void loops_again_and_again(void) {
  enum { ROUNDS = 40 };
  int cancelled = 0, between = 0;
#pragma omp parallel num_threads(2)
  for (int round = 0; round < ROUNDS; ++round) {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 100; ++i) {
      if (i == 3) check_add(&cancelled, 1);
#pragma omp cancel for if (i == 3)
#pragma omp cancellation point for
    }
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 10; ++i) {
#pragma omp cancel for if (i == never)
      check_add(&between, 1);
    }
  }
  CHECK_EQ(cancelled, ROUNDS);
  CHECK_EQ(between, ROUNDS * 10);
}

/* For another member, which may have to be given the worker first. */
static void wait_for(int* flag) {
  while (check_load(flag) == 0) {
#pragma omp taskyield
    check_work(10);
  }
}

/* Of single regions one member may have met more than the others when the region is cancelled. */
static void singles(void) {
  int passed = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      wait_for(&passed);
#pragma omp cancel parallel
    } else {
#pragma omp single nowait
      check_work(10);
      check_store(&passed, 1);
      for (;;) {
#pragma omp cancellation point parallel
        check_work(10);
      }
    }
  }
  for (int round = 0; round < 3; ++round) {
    int runs = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      check_add(&runs, 1);
#pragma omp single
      check_add(&runs, 10);
    }
    CHECK_EQ(runs, 11);
  }
}

/* A region is cancelled while one member executes a single region and another waits for what it has to copy: that is
 * copied, and nobody executes it once more. Members of libgomp's region wait for ever. */
static void copies(void) {
  if (getenv("CHECK_RUNTIME") == NULL) return;
  for (int round = 0; round < 5; ++round) {
    int begun = 0, coming = 0, through = 0, copied = 0, bodies = 0, wrong = 0;
#pragma omp parallel num_threads(3)
    {
      int value = -1, executes = 0;
      if (omp_get_thread_num() == 0) {
        wait_for(&begun);
        while (check_load(&coming) < 2) {
#pragma omp taskyield
        }
        usleep(500); /* the other one waits by now, mostly */
        check_store(&through, 1);
#pragma omp cancel parallel
      }
      check_add(&coming, 1);
#pragma omp single copyprivate(value)
      {
        check_add(&bodies, 1);
        check_store(&begun, 1);
        wait_for(&through);
        usleep(1000); /* cancelled by now, mostly */
        value = 42 + round;
        executes = 1;
      }
      if (value != 42 + round) check_add(&wrong, 1);
      if (!executes) check_store(&copied, 1);
      wait_for(&copied); /* no barrier keeps what is copied; gcc's members have gone to the region's end by now */
    }
    CHECK_EQ(bodies, 1);
    CHECK_EQ(wrong, 0);
#pragma omp parallel num_threads(3)
    {
      int value = -1;
#pragma omp single copyprivate(value)
      value = round;
      if (value != round) check_add(&wrong, 1);
    }
    CHECK_EQ(wrong, 0);
  }
}

/* One member leaves, the others execute a loop. (Bug: their ordered regions ran at the same time.) */
static void ordered_of_those_who_stay(void) {
  enum { ITERATIONS = 12 };
  int inside = 0;
  int next = 0;
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 3) {
#pragma omp cancel parallel
    }
#pragma omp for ordered schedule(dynamic, 1)
    for (int i = 0; i < ITERATIONS; ++i) {
#pragma omp ordered
      {
        CHECK_EQ(check_add(&inside, 1), 1);
        CHECK_EQ(check_add(&next, 1), i + 1);
        check_add(&inside, -1);
      }
    }
  }
  CHECK_EQ(next, ITERATIONS);
}

static void body(void) {
  CHECK_EQ(omp_get_cancellation(), 1);
  parallel_region();
  conditions();
  loops();
  if (check_where == CHECK_SERIAL) sections();
  taskgroups();
  descendants();
  tasks_of_a_region();
  taskloops();
  loops_again_and_again();
  singles();
  copies();
  for (int round = 0; round < CHECK_SCALE(100); ++round) ordered_of_those_who_stay();
}

int main(int argc, char** argv) {
  (void)argc;
  check_need_variable("OMP_CANCELLATION", "true", argv);
  return check_run(body);
}
