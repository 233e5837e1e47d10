// The signals that members have blocked: each has a mask of its own, as a thread has, whichever kernel thread it runs
// on; and none is left on a thread of the program's when a region is over.
#include "handlers.h"

#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <threads.h>

enum { members = 8 };

// What the calling thread has blocked, but for the two that libc keeps to itself; one bit each.
static unsigned long long blocked(void) {
  sigset_t now;
  CHECK_EQUAL(pthread_sigmask(SIG_BLOCK, NULL, &now), 0, "pthread_sigmask");
  unsigned long long mask = 0;
  for (int number = 1; number < 65; number++) {
    if (sigismember(&now, number) == 1) {
      mask |= 1ULL << (number - 1);
    }
  }
  return mask;
}

static unsigned long long bit(int number) { return 1ULL << (number - 1); }

static void kernel_has_blocked(unsigned long long expected, const char* where) {
  unsigned long long mask = 0;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask) == 0, "rt_sigprocmask: %s", strerror(errno));
  CHECK(mask == expected, "%s: %llx are blocked, must be %llx", where, mask, expected);
}

static void restored_behind_a_barrier(void) {
  const unsigned long long before = blocked();
  for (int round = 0; round < repeats(50); round++) {
#pragma omp parallel num_threads(members)
    {
      const sigset_t usr1 = one_signal(SIGUSR1);
      sigset_t old;
      CHECK_EQUAL(pthread_sigmask(SIG_BLOCK, &usr1, &old), 0, "pthread_sigmask");
      CHECK(sigismember(&old, SIGUSR1) == 0, "blocked before it is");
#pragma omp barrier
      CHECK(blocked() == (before | bit(SIGUSR1)), "member %d has %llx blocked", omp_get_thread_num(), blocked());
#pragma omp barrier
      CHECK_EQUAL(sigprocmask(SIG_SETMASK, &old, NULL), 0, "sigprocmask");
      CHECK(blocked() == before, "member %d has %llx blocked", omp_get_thread_num(), blocked());
    }
    kernel_has_blocked(before, "after the region");
  }
}

static void restored_by_a_jump(void) {
  const unsigned long long before = blocked();
  for (int round = 0; round < repeats(50); round++) {
#pragma omp parallel num_threads(members)
    {
      sigjmp_buf place;
      if (sigsetjmp(place, 1) == 0) {
        const sigset_t usr2 = one_signal(SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &usr2, NULL);
#pragma omp barrier
        siglongjmp(place, 1);
      }
      CHECK(blocked() == before, "member %d has %llx blocked", omp_get_thread_num(), blocked());
    }
    kernel_has_blocked(before, "after the region");
  }
}

static atomic_int handled;
static void count_signal(int number) {
  (void)number;
  atomic_fetch_add(&handled, 1);
}

// Waits for it, which is blocked.
static void take_usr1(void) {
  const sigset_t usr1 = one_signal(SIGUSR1);
  int number = 0;
  CHECK_EQUAL(sigwait(&usr1, &number), 0, "sigwait");
  CHECK_EQUAL(number, SIGUSR1, "the signal that came");
}

static void blocked_signals_wait(void) {
  signal(SIGUSR1, count_signal);
  for (int round = 0; round < repeats(20); round++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(members)
    {
      const sigset_t usr1 = one_signal(SIGUSR1);
      sigset_t old;
      pthread_sigmask(SIG_BLOCK, &usr1, &old);
#pragma omp barrier
      raise(SIGUSR1);
      take_usr1();
      pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    CHECK_EQUAL(atomic_load(&handled), 0, "signals that were handled although they were blocked");
  }
}

// Bug: on weft's threads it stayed pending for ever.
static void raised_while_blocked(void) {
  signal(SIGUSR1, count_signal);
  for (int round = 0; round < repeats(20); round++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(members)
    {
      const sigset_t usr1 = one_signal(SIGUSR1);
      pthread_sigmask(SIG_BLOCK, &usr1, NULL);
      raise(SIGUSR1);
#pragma omp barrier
      CHECK_EQUAL(atomic_load(&handled), 0, "signals that were handled although they were blocked");
      if (round % 2 != 0) {
        sleep_seconds(0.001);  // so that several threads run them
      }
#pragma omp barrier
      pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    }
    CHECK_EQUAL(atomic_load(&handled), members, "signals that were handled");
    kernel_has_blocked(0, "after the region");
  }
}

static void raised_while_blocked_and_awaited_elsewhere(void) {
  signal(SIGUSR1, count_signal);
  for (int round = 0; round < repeats(20); round++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(members)
    {
      const sigset_t usr1 = one_signal(SIGUSR1);
      pthread_sigmask(SIG_BLOCK, &usr1, NULL);
      raise(SIGUSR1);
#pragma omp barrier
      take_usr1();
#pragma omp barrier
      pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    }
    CHECK_EQUAL(atomic_load(&handled), 0, "signals that were handled although they had been taken");
  }
}

static void raised_and_jumped_away(void) {
  signal(SIGUSR1, count_signal);
  for (int round = 0; round < repeats(20); round++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(members)
    {
      sigjmp_buf place;
      if (sigsetjmp(place, 1) == 0) {
        const sigset_t usr1 = one_signal(SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &usr1, NULL);
        raise(SIGUSR1);
#pragma omp barrier
        siglongjmp(place, 1);
      }
#pragma omp barrier
      CHECK_EQUAL(atomic_load(&handled), members, "signals that were handled");
    }
  }
}

static void blocked_by_main_and_raised(void) {
  signal(SIGUSR1, count_signal);
  const sigset_t usr1 = one_signal(SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &usr1, NULL);
  for (int round = 0; round < repeats(20); round++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(members)
    {
      pthread_sigmask(SIG_BLOCK, &usr1, NULL);
      raise(SIGUSR1);
#pragma omp barrier
      CHECK_EQUAL(atomic_load(&handled), 0, "signals that were handled although they were blocked");
#pragma omp barrier
      pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
    }
    CHECK_EQUAL(atomic_load(&handled), members, "signals that were handled");
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
  }
  pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
}

static void one_blocks_for_itself(void) {
  signal(SIGUSR1, count_signal);
  for (int round = 0; round < repeats(20); round++) {
    atomic_store(&handled, 0);
#pragma omp parallel num_threads(members)
    {
      const sigset_t usr1 = one_signal(SIGUSR1);
      if (omp_get_thread_num() == 0) {
        pthread_sigmask(SIG_BLOCK, &usr1, NULL);
      }
#pragma omp barrier
      if (omp_get_thread_num() != 0) {
        raise(SIGUSR1);
      }
#pragma omp barrier
      if (omp_get_thread_num() == 0) {
        pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
      }
    }
    CHECK_EQUAL(atomic_load(&handled), members - 1, "signals that were handled");
    kernel_has_blocked(0, "after the region");
  }
}

// A thread of the program keeps what it has set within a region, and what it sets outside.
static void set_by_the_master(void) {
  const sigset_t usr1 = one_signal(SIGUSR1);
#pragma omp parallel num_threads(members)
  {
#pragma omp master
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
#pragma omp barrier
  }
  kernel_has_blocked(bit(SIGUSR1), "after a region in which it was blocked");
#pragma omp parallel num_threads(members)
  {
#pragma omp barrier
#pragma omp master
    CHECK(blocked() == bit(SIGUSR1), "the master has %llx blocked", blocked());
  }
  kernel_has_blocked(bit(SIGUSR1), "after another region");
  const sigset_t usr2 = one_signal(SIGUSR2);
  sigprocmask(SIG_SETMASK, &usr2, NULL);
  for (int round = 0; round < repeats(20); round++) {
#pragma omp parallel num_threads(members)
    {
#pragma omp barrier
    } kernel_has_blocked(bit(SIGUSR2), "set outside");
  }
  CHECK_EQUAL(pthread_sigmask(99, &usr1, NULL), EINVAL, "pthread_sigmask of nothing that it knows");
#pragma omp parallel num_threads(2)
  {
    CHECK_EQUAL(pthread_sigmask(99, &usr1, NULL), EINVAL, "the same of a member");
    CHECK(sigprocmask(99, &usr1, NULL) == -1 && errno == EINVAL, "sigprocmask");
  }
}

static void* tell_blocked(void* mask) {
  *(unsigned long long*)mask = blocked();
  return NULL;
}

static int tell_blocked_too(void* mask) {
  tell_blocked(mask);
  return 0;
}

static void threads_of_members(void) {
  const unsigned long long before = blocked();
#pragma omp parallel num_threads(members)
  {
    for (int round = 0; round < 4; round++) {
      const sigset_t usr1 = one_signal(SIGUSR1);
      if (round == 2) {
        pthread_sigmask(SIG_BLOCK, &usr1, NULL);
      }
      pthread_t thread;
      unsigned long long mask = ~0ULL;
      CHECK_EQUAL(pthread_create(&thread, NULL, tell_blocked, &mask), 0, "pthread_create");
      pthread_join(thread, NULL);
      const unsigned long long expected = before | (round >= 2 ? bit(SIGUSR1) : 0);
      CHECK(mask == expected, "a thread of member %d has %llx blocked, must be %llx", omp_get_thread_num(), mask,
            expected);
      thrd_t c_thread;
      CHECK_EQUAL(thrd_create(&c_thread, tell_blocked_too, &mask), thrd_success, "thrd_create");
      thrd_join(c_thread, NULL);
      CHECK(mask == expected, "a C thread of member %d has %llx blocked, must be %llx", omp_get_thread_num(), mask,
            expected);
#pragma omp barrier
    }
  }
}

static void children_of_members(void) {
#pragma omp parallel num_threads(members)
  {
    const sigset_t usr2 = one_signal(SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
#pragma omp barrier
    const pid_t child = fork();
    CHECK(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
      kernel_has_blocked(bit(SIGUSR2), "in the child");
      _exit(0);
    }
    int status = 0;
    CHECK_EQUAL(waitpid(child, &status, 0), child, "waitpid");
    CHECK_EQUAL(status, 0, "status of the child");
  }
}

// The kernel releases such a mutex for the thread that it knows as its owner.
static void mutexes_that_inherit_priority(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  CHECK_EQUAL(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0, "pthread_mutexattr_setprotocol");
  pthread_mutex_t mutex;
  CHECK_EQUAL(pthread_mutex_init(&mutex, &attributes), 0, "pthread_mutex_init");
  int count = 0;
#pragma omp parallel num_threads(members)
  for (int round = 0; round < 50; round++) {
    pthread_mutex_lock(&mutex);
    count++;
    pthread_mutex_unlock(&mutex);
#pragma omp barrier
  }
  CHECK_EQUAL(count, members * 50, "increments");
  pthread_mutex_destroy(&mutex);
}

int main(int count, char** arguments) {
  const struct Case cases[] = {
      {"restored_behind_a_barrier", restored_behind_a_barrier, 0},
      {"restored_by_a_jump", restored_by_a_jump, 0},
      {"blocked_signals_wait", blocked_signals_wait, 0},
      {"raised_while_blocked", raised_while_blocked, 0},
      {"raised_while_blocked_and_awaited_elsewhere", raised_while_blocked_and_awaited_elsewhere, 0},
      {"raised_and_jumped_away", raised_and_jumped_away, 0},
      {"blocked_by_main_and_raised", blocked_by_main_and_raised, 0},
      {"one_blocks_for_itself", one_blocks_for_itself, 0},
      {"set_by_the_master", set_by_the_master, 0},
      {"threads_of_members", threads_of_members, 0},
      {"children_of_members", children_of_members, 0},
      {"mutexes_that_inherit_priority", mutexes_that_inherit_priority, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
