// Members that wait for each other with sched_yield(), as spin locks and barriers of libraries do: on a machine where
// each has a thread of the kernel's, that one asks it for the others. The watchdog looks once in ten seconds here
// (CMakeLists.txt): what goes on, goes on by these calls alone.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct YieldingBarrier {
  atomic_int arrived;
  atomic_int round;
};

static void wait_in(struct YieldingBarrier* barrier, int members) {
  const int round = atomic_load(&barrier->round);
  if (atomic_fetch_add(&barrier->arrived, 1) == members - 1) {
    atomic_store(&barrier->arrived, 0);
    atomic_store(&barrier->round, round + 1);
  } else {
    while (atomic_load(&barrier->round) == round) {
      CHECK_EQUAL(sched_yield(), 0, "sched_yield()");
    }
  }
}

static void barriers(void) {
  for (int members = 2; members <= 32; members *= 2) {
    struct YieldingBarrier barrier = CHECK_ZERO;
    int count = 0;
#pragma omp parallel num_threads(members)
    for (int i = 0; i < repeats(50); i++) {
#pragma omp atomic
      count++;
      wait_in(&barrier, members);
      int seen;
#pragma omp atomic read
      seen = count;
      CHECK_EQUAL(seen, members * (i + 1), "members at a barrier");
      wait_in(&barrier, members);
    }
  }
}

static void barriers_in_nested_teams(void) {
  omp_set_max_active_levels(4);
  struct YieldingBarrier outer = CHECK_ZERO;
  int done = 0;
#pragma omp parallel num_threads(3)
  for (int i = 0; i < repeats(10); i++) {
    struct YieldingBarrier inner = CHECK_ZERO;
#pragma omp parallel num_threads(4)
    {
      wait_in(&inner, 4);
#pragma omp barrier
      wait_in(&inner, 4);
#pragma omp atomic
      done++;
    }
    wait_in(&outer, 3);
  }
  CHECK_EQUAL(done, 12 * repeats(10), "members");
}

static _Thread_local int own_number;

// What belongs to a thread is the same after each call as before.
static void thread_local_storage(void) {
  enum { members = 16 };
  struct YieldingBarrier barrier = CHECK_ZERO;
  int* addresses[members];
#pragma omp parallel num_threads(members)
  {
    const int me = omp_get_thread_num();
    const pthread_t self = pthread_self();
    own_number = me;
    addresses[me] = &own_number;
    for (int i = 0; i < repeats(20); i++) {
      errno = me;
      wait_in(&barrier, members);
      CHECK_EQUAL(errno, me, "errno");
      CHECK_EQUAL(own_number, me, "a thread_local variable");
      CHECK(addresses[me] == &own_number, "a thread_local variable has moved");
      CHECK(pthread_equal(self, pthread_self()), "pthread_self() has changed");
      CHECK_EQUAL(omp_get_thread_num(), me, "omp_get_thread_num()");
      wait_in(&barrier, members);
    }
  }
  for (int i = 0; i < members; i++) {
    for (int j = 0; j < i; j++) {
      CHECK(addresses[i] != addresses[j], "members %d and %d share a thread_local variable", j, i);
    }
  }
}

static atomic_int asked;
static atomic_int answered;

static void* answer(void* argument) {
  const int questions = *(int*)argument;
  for (int i = 1; i <= questions; i++) {
    while (atomic_load(&asked) < i) {
      sched_yield();
    }
    atomic_store(&answered, i);
  }
  return NULL;
}

// What they wait for comes from a thread that the runtime knows nothing of, with all members yielding to each other.
static void for_a_thread_of_the_program(void) {
  int questions = repeats(20);
  pthread_t thread;
  atomic_store(&asked, 0);
  atomic_store(&answered, 0);
  CHECK_EQUAL(pthread_create(&thread, NULL, answer, &questions), 0, "pthread_create()");
#pragma omp parallel num_threads(8)
  for (int i = 1; i <= questions; i++) {
    int before = i - 1;
    atomic_compare_exchange_strong(&asked, &before, i);
    while (atomic_load(&answered) < i) {
      sched_yield();
    }
  }
  pthread_join(thread, NULL);
}

// Several threads have regions one at a time, under a lock that spins: as OpenBLAS has it, whose members besides wait
// for each other by yielding.
static atomic_flag in_use = ATOMIC_FLAG_INIT;

static void* multiply(void* argument) {
  int* count = argument;
  for (int i = 0; i < repeats(5); i++) {
    while (atomic_flag_test_and_set(&in_use)) {
      sched_yield();
    }
    struct YieldingBarrier barrier = CHECK_ZERO;
#pragma omp parallel num_threads(6)
    for (int j = 0; j < 5; j++) {
      wait_in(&barrier, 6);
#pragma omp atomic
      ++*count;
    }
    atomic_flag_clear(&in_use);
  }
  return NULL;
}

static void regions_of_several_threads(void) {
  enum { callers = 4 };
  pthread_t threads[callers];
  int count = 0;
  for (int i = 0; i < callers; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, multiply, &count), 0, "pthread_create()");
  }
  for (int i = 0; i < callers; i++) {
    pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(count, callers * repeats(5) * 5 * 6, "members");
}

// The same without the lock: some of them have all that they wait for, and go, while others wait for their turn.
static void* add_up(void* argument) {
  atomic_int* sum = argument;
  for (int i = 0; i < repeats(20); i++) {
    struct YieldingBarrier barrier = CHECK_ZERO;
#pragma omp parallel num_threads(2 + i % 3)
    {
      wait_in(&barrier, 2 + i % 3);
      atomic_fetch_add(sum, 1);
    }
  }
  return NULL;
}

static void regions_side_by_side(void) {
  enum { callers = 6 };
  pthread_t threads[callers];
  atomic_int sum = 0;
  for (int i = 0; i < callers; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, add_up, &sum), 0, "pthread_create()");
  }
  int expected = 0;
  for (int i = 0; i < repeats(20); i++) {
    expected += 2 + i % 3;
  }
  for (int i = 0; i < callers; i++) {
    pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(atomic_load(&sum), callers * expected, "members");
}

// Members of one root wait for another root, whose members wait for each other.
static void* add_up_and_say_so(void* argument) {
  atomic_int* done = argument;
  struct YieldingBarrier barrier = CHECK_ZERO;
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 20; i++) {
    wait_in(&barrier, 3);
  }
  atomic_store(done, 1);
  return NULL;
}

static void one_root_for_another(void) {
  for (int i = 0; i < repeats(10); i++) {
    atomic_int done = 0;
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, add_up_and_say_so, &done), 0, "pthread_create()");
#pragma omp parallel num_threads(3)
    {
      while (omp_get_thread_num() != 0 && !atomic_load(&done)) {
        sched_yield();
      }
#pragma omp barrier
    }
    pthread_join(thread, NULL);
  }
}

// A spin lock that is held across a barrier of OpenMP's.
static void lock_held_across_a_barrier(void) {
  atomic_flag lock = ATOMIC_FLAG_INIT;
  int count = 0;
#pragma omp parallel num_threads(8)
  for (int i = 0; i < repeats(20); i++) {
    const int holds = omp_get_thread_num() == i % 8;
    while (holds && atomic_flag_test_and_set(&lock)) {
      sched_yield();
    }
#pragma omp barrier
    while (!holds && atomic_flag_test_and_set(&lock)) {
      sched_yield();
    }
    count++;
    atomic_flag_clear(&lock);
#pragma omp barrier
  }
  CHECK_EQUAL(count, 8 * repeats(20), "members that had the lock");
}

static void tasks_that_wait_for_members(void) {
  atomic_int ready = 0;
  atomic_int done = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp task
    {
      while (atomic_load(&ready) < 4) {
        sched_yield();
      }
      atomic_fetch_add(&done, 1);
    }
    atomic_fetch_add(&ready, 1);
  }
  CHECK_EQUAL(atomic_load(&done), 4, "tasks");
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"barriers", barriers, 0},
      {"barriers_in_nested_teams", barriers_in_nested_teams, 0},
      {"thread_local_storage", thread_local_storage, 0},
      {"for_a_thread_of_the_program", for_a_thread_of_the_program, 0},
      {"regions_of_several_threads", regions_of_several_threads, 0},
      {"regions_side_by_side", regions_side_by_side, 0},
      {"one_root_for_another", one_root_for_another, 0},
      {"lock_held_across_a_barrier", lock_held_across_a_barrier, 0},
      {"tasks_that_wait_for_members", tasks_that_wait_for_members, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
