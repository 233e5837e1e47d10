// Locks and critical sections: contended from nested members, held across barriers, handed between members.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

static void critical_from_nested_members(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(3); i++) {
    long plain = 0;
    long named = 0;
#pragma omp parallel num_threads(8)
#pragma omp parallel num_threads(8)
    for (int j = 0; j < 50; j++) {
#pragma omp critical
      plain++;
#pragma omp critical(of_its_own)
      named++;
    }
    CHECK_EQUAL(plain, 64 * 50, "count in the unnamed critical section");
    CHECK_EQUAL(named, 64 * 50, "count in a named critical section");
  }
}

static void critical_that_sleeps(void) {
  long count = 0;
  atomic_int inside;
  atomic_init(&inside, 0);
#pragma omp parallel num_threads(16)
  for (int j = 0; j < 5; j++) {
#pragma omp critical(slow)
    {
      CHECK_EQUAL(atomic_fetch_add(&inside, 1), 0, "members already in a critical section");
      sleep_seconds(0.0005);
      count++;
      atomic_fetch_sub(&inside, 1);
    }
  }
  CHECK_EQUAL(count, 80, "count in a slow critical section");
}

// A region inside a critical section, and other members waiting at its door meanwhile.
static void region_inside_critical(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(5); i++) {
    long count = 0;
#pragma omp parallel num_threads(8)
    {
#pragma omp critical(around_a_region)
      {
        long here = 0;
#pragma omp parallel num_threads(4) reduction(+ : here)
        {
#pragma omp barrier
          here += 1;
        }
        count += here;
      }
    }
    CHECK_EQUAL(count, 32, "members of regions inside a critical section");
  }
}

static void simple_locks(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(3); i++) {
    omp_lock_t lock;
    long count = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(8)
#pragma omp parallel num_threads(8)
    for (int j = 0; j < 50; j++) {
      if (j % 5 == 0) {
        while (!omp_test_lock(&lock)) {
#pragma omp taskyield
        }
      } else {
        omp_set_lock(&lock);
      }
      count++;
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    CHECK_EQUAL(count, 64 * 50, "count under a lock");
  }
}

static void take_nested(omp_nest_lock_t* lock, int depth, long* count) {
  omp_set_nest_lock(lock);
  (*count)++;
  if (depth > 0) {
    take_nested(lock, depth - 1, count);
  } else {
    CHECK_EQUAL(omp_test_nest_lock(lock), 6, "nesting count of a lock that is held 5 times");
    omp_unset_nest_lock(lock);
  }
  omp_unset_nest_lock(lock);
}

static void nestable_locks(void) {
  for (int i = 0; i < repeats(3); i++) {
    omp_nest_lock_t lock;
    long count = 0;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(16)
    for (int j = 0; j < 50; j++) {
      take_nested(&lock, 4, &count);
    }
    omp_destroy_nest_lock(&lock);
    CHECK_EQUAL(count, 16 * 50 * 5, "count under a nestable lock");
  }
}

// Held over a barrier that its waiters do not need to pass.
static void lock_held_across_barriers(void) {
  for (int i = 0; i < repeats(20); i++) {
    omp_lock_t lock;
    int owner_has_it = 0;
    int count = 0;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(16)
    {
      if (omp_get_thread_num() == i % 16) {
        omp_set_lock(&lock);
        owner_has_it = 1;
      }
#pragma omp barrier
      CHECK(!omp_test_lock(&lock), "a lock was free that a member holds across a barrier");
#pragma omp barrier
      if (omp_get_thread_num() == i % 16) {
        CHECK_EQUAL(owner_has_it, 1, "owner of the lock");
        omp_unset_lock(&lock);
      }
      omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    CHECK_EQUAL(count, 16, "members that had the lock in the end");
  }
}

// A nestable lock belongs to the task: held over barriers it is still the same member's.
static void nest_lock_held_across_barriers(void) {
  for (int i = 0; i < repeats(10); i++) {
    omp_nest_lock_t locks[16];
    for (int j = 0; j < 16; j++) {
      omp_init_nest_lock(&locks[j]);
    }
#pragma omp parallel num_threads(16)
    {
      const int mine = omp_get_thread_num();
      omp_set_nest_lock(&locks[mine]);
#pragma omp barrier
      CHECK_EQUAL(omp_test_nest_lock(&locks[(mine + 1) % 16]), 0, "test of a nestable lock another member holds");
#pragma omp barrier
      CHECK_EQUAL(omp_test_nest_lock(&locks[mine]), 2, "nesting count after barriers");
      omp_unset_nest_lock(&locks[mine]);
      omp_unset_nest_lock(&locks[mine]);
    }
    for (int j = 0; j < 16; j++) {
      omp_destroy_nest_lock(&locks[j]);
    }
  }
}

// A ring: each member waits for the lock that the one before it opens.
static void locks_handed_round(void) {
  enum { members = 12 };
  for (int i = 0; i < repeats(10); i++) {
    omp_lock_t locks[members];
    int order[members * 5];
    int length = 0;
    for (int j = 0; j < members; j++) {
      omp_init_lock(&locks[j]);
      omp_set_lock(&locks[j]);
    }
    omp_unset_lock(&locks[0]);
#pragma omp parallel num_threads(members)
    {
      const int mine = omp_get_thread_num();
      for (int round = 0; round < 5; round++) {
        omp_set_lock(&locks[mine]);
        order[length++] = mine;
        omp_unset_lock(&locks[(mine + 1) % members]);
      }
    }
    for (int j = 0; j < members; j++) {
      omp_destroy_lock(&locks[j]);
    }
    CHECK_EQUAL(length, members * 5, "turns");
    for (int j = 0; j < length; j++) {
      CHECK_EQUAL(order[j], j % members, "member at a turn");
    }
  }
}

// pthread mutexes and locks between members: held over no scheduling point, so they never stop a scheduler.
static void pthread_mutexes_in_members(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  omp_set_max_active_levels(4);
  long count = 0;
  long recursive_count = 0;
#pragma omp parallel num_threads(8)
#pragma omp parallel num_threads(8)
  for (int j = 0; j < 100; j++) {
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    recursive_count++;
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
  }
  CHECK_EQUAL(count, 64 * 100, "count under a mutex");
  CHECK_EQUAL(recursive_count, 64 * 100, "count under a recursive mutex");
}

// A recursive mutex knows its owner by thread identity: over a barrier the owner must stay the member.
static void recursive_mutex_held_across_a_barrier(void) {
  for (int i = 0; i < repeats(20); i++) {
    pthread_mutex_t mutexes[16];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    for (int j = 0; j < 16; j++) {
      pthread_mutex_init(&mutexes[j], &attributes);
    }
#pragma omp parallel num_threads(16)
    {
      const int mine = omp_get_thread_num();
      CHECK_EQUAL(pthread_mutex_lock(&mutexes[mine]), 0, "lock");
#pragma omp barrier
      CHECK_EQUAL(pthread_mutex_lock(&mutexes[mine]), EDEADLK, "second lock by the owner");
      CHECK_EQUAL(pthread_mutex_trylock(&mutexes[(mine + 5) % 16]), EBUSY, "trylock of another member's mutex");
      CHECK_EQUAL(pthread_mutex_unlock(&mutexes[(mine + 1) % 16]), EPERM, "unlock of another member's mutex");
#pragma omp barrier
      CHECK_EQUAL(pthread_mutex_unlock(&mutexes[mine]), 0, "unlock by the owner after barriers");
    }
    for (int j = 0; j < 16; j++) {
      pthread_mutex_destroy(&mutexes[j]);
    }
    pthread_mutexattr_destroy(&attributes);
  }
}

static void atomics_of_odd_types(void) {
  long double large = 0;
  struct {
    char pad;
    float value;
  } odd = {0, 0};
#pragma omp parallel num_threads(16)
  for (int j = 0; j < 200; j++) {
#pragma omp atomic
    large += 1;
#pragma omp atomic
    odd.value += 1;
  }
  CHECK_EQUAL(large, 3200, "atomic long double");
  CHECK_EQUAL(odd.value, 3200, "atomic float");
}

static void ordered_in_nested_teams(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < repeats(5); i++) {
#pragma omp parallel num_threads(6)
    {
      int next = 0;
#pragma omp parallel for ordered schedule(static, 1) num_threads(6)
      for (int j = 0; j < 60; j++) {
#pragma omp ordered
        {
          CHECK_EQUAL(next, j, "iteration of an ordered loop");
          next++;
        }
      }
      CHECK_EQUAL(next, 60, "iterations");
    }
  }
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"critical_from_nested_members", critical_from_nested_members, 0},
      {"critical_that_sleeps", critical_that_sleeps, 0},
      {"region_inside_critical", region_inside_critical, 0},
      {"simple_locks", simple_locks, 0},
      {"nestable_locks", nestable_locks, 0},
      {"lock_held_across_barriers", lock_held_across_barriers, 0},
      {"nest_lock_held_across_barriers", nest_lock_held_across_barriers, 0},
      {"locks_handed_round", locks_handed_round, 0},
      {"pthread_mutexes_in_members", pthread_mutexes_in_members, 0},
      {"recursive_mutex_held_across_a_barrier", recursive_mutex_held_across_a_barrier, 0},
      {"atomics_of_odd_types", atomics_of_odd_types, 0},
      {"ordered_in_nested_teams", ordered_in_nested_teams, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
