// setegid() and its like concern all threads of the process, weft's as well, whoever calls them and whenever.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// Two groups to change between; only root has two.
static gid_t group(int which) { return which != 0 && geteuid() == 0 ? 65534 : getgid(); }

static void change_to(gid_t wanted) { CHECK(setegid(wanted) == 0, "setegid(%u): %s", wanted, strerror(errno)); }

// The kernel's, of the thread that runs this.
static void check_group(gid_t expected) {
  const gid_t found = (gid_t)syscall(SYS_getegid);
  CHECK(found == expected, "a thread has the group %u, and not %u", found, expected);
}

static void compute(double seconds) {
  const double end = seconds_now() + seconds;
  while (seconds_now() < end) {
  }
}

static void between_regions(void) {
  for (int i = 0; i < repeats(10); i++) {
    change_to(group(i % 2));
#pragma omp parallel num_threads(8)
    {
      check_group(group(i % 2));
#pragma omp barrier
      compute(0.002);
      check_group(group(i % 2));
    }
  }
  change_to(group(0));
}

static void change_inside(int by_all) {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(8)
    {
      compute(0.001);
#pragma omp barrier
      if (by_all || omp_get_thread_num() == i % 8) {
        change_to(group(i % 2));
      }
#pragma omp barrier
      check_group(group(i % 2));
    }
  }
  change_to(group(0));
}

static void by_a_member(void) { change_inside(0); }

static void by_all_members(void) { change_inside(1); }

static atomic_int regions_have_ended;

static void* change_again_and_again(void* argument) {
  for (int i = 0; !atomic_load(&regions_have_ended); i++) {
    change_to(group(i % 2));
    sleep_seconds(0.001);
  }
  return argument;
}

static void beside_regions(void) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, change_again_and_again, NULL), 0, "pthread_create()");
  for (int i = 0; i < repeats(20); i++) {
    int present = 0;
#pragma omp parallel num_threads(8) reduction(+ : present)
    {
      compute(0.001);
#pragma omp barrier
      compute(0.001);
      present++;
    }
    CHECK_EQUAL(present, 8, "members");
  }
  atomic_store(&regions_have_ended, 1);
  pthread_join(thread, NULL);
}

static atomic_int is_deaf, all_is_done;

// As one does that the kernel does not run. pthread_sigmask() would leave libc's own signals open.
static void* answer_late(void* argument) {
  const uint64_t all = ~0ULL, none = 0;
  while (!atomic_load(&all_is_done)) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    atomic_store(&is_deaf, 1);
    sleep_seconds(0.1);
    atomic_store(&is_deaf, 0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
    sleep_seconds(0.05);
  }
  return argument;
}

// Bug: the one that changed it (on a root's KLT, while the root waited) was left while it waited for the threads, with
// a lock of libc's that weft needed to start a KLT for the others, which wanted that lock too.
static void one_of_the_threads_answers_late(void) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, answer_late, NULL), 0, "pthread_create()");
  for (int i = 0; i < repeats(3); i++) {
    while (!atomic_load(&is_deaf)) sleep_seconds(0.001);
#pragma omp parallel num_threads(16)
    {
#pragma omp barrier
      change_to(group(i % 2));
#pragma omp barrier
      check_group(group(i % 2));
    }
  }
  atomic_store(&all_is_done, 1);
  pthread_join(thread, NULL);
  change_to(group(0));
}

int main(int count, char** arguments) {
  const struct Case cases[] = {
      {"between_regions", between_regions, 0},
      {"by_a_member", by_a_member, 0},
      {"by_all_members", by_all_members, 0},
      {"beside_regions", beside_regions, 0},
      {"one_of_the_threads_answers_late", one_of_the_threads_answers_late, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
