// Workers are switched off and on while the program runs, as `weft ctl PID workers=N` does it. Whatever their number,
// every member and task runs, and what they compute is right.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>

enum { MEMBERS = 8 };

// 0: all of them.
static void ask_for_workers(int count) {
  union sigval value = {.sival_int = count};
  CHECK(sigqueue(getpid(), SIGURG, value) == 0, "sigqueue: %s", strerror(errno));
}

static void busy_for(double seconds) {
  const double end = seconds_now() + seconds;
  while (seconds_now() < end) {
  }
}

static long sum_in_region(void) {
  long sum = 0;
#pragma omp parallel num_threads(MEMBERS) reduction(+ : sum)
  {
#pragma omp for schedule(dynamic, 7)
    for (int i = 0; i < 1000; i++) sum += i;
#pragma omp barrier
    sum += omp_get_num_threads();
  }
  return sum;
}

static long fib(int n) {
  if (n < 2) return n;
  long left, right;
#pragma omp task shared(left)
  left = fib(n - 1);
  right = fib(n - 2);
#pragma omp taskwait
  return left + right;
}

static long fib_in_region(int n) {
  long result = 0;
#pragma omp parallel num_threads(MEMBERS)
#pragma omp single
  result = fib(n);
  return result;
}

static long members_of_nested_regions(void) {
  long members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  {
    long inside = 0;
#pragma omp parallel num_threads(4) reduction(+ : inside)
    {
#pragma omp barrier
      inside += 1;
    }
    members += inside;
  }
  return members;
}

static void check_everything(void) {
  CHECK_EQUAL(sum_in_region(), 499500 + MEMBERS * MEMBERS, "the sum of a region");
  CHECK_EQUAL(members_of_nested_regions(), 16, "members of nested regions");
  CHECK_EQUAL(fib_in_region(12), 144, "fib(12) by tasks");
}

static void any_number(void) {
  check_everything();
  for (int round = 0; round < repeats(100); round++) {
    ask_for_workers(round % (MEMBERS + 1));
    check_everything();
  }
  ask_for_workers(0);
  check_everything();
}

static atomic_int over;

static void* change_all_the_time(void* argument) {
  (void)argument;
  for (unsigned round = 0; !atomic_load(&over); round++) {
    ask_for_workers((int)(round * 7 % 5));
    usleep(200);
  }
  return NULL;
}

static void changed_in_the_midst(void) {
  check_everything();
  pthread_t changer;
  CHECK(pthread_create(&changer, NULL, change_all_the_time, NULL) == 0, "no thread");
  for (int round = 0; round < repeats(300); round++) check_everything();
  atomic_store(&over, 1);
  pthread_join(changer, NULL);
}

static void members_that_spin(void) {
  ask_for_workers(1);
  for (int round = 0; round < repeats(3); round++) {
    atomic_int there = 0;
#pragma omp parallel num_threads(4)
    {
      atomic_fetch_add(&there, 1);
      while (atomic_load(&there) < 4) {
      }
    }
    CHECK_EQUAL(atomic_load(&there), 4, "members that spun until all were there");
  }
}

static void two_members_each(int regions) {
  for (int region = 0; region < regions; region++) {
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members += 1;
    CHECK_EQUAL(members, 2, "members");
  }
}

// Bug: where members are bound to places, and all workers but the program's thread were off, nobody came to a member at
// another place than that thread's, which waited for it in its sleep.
static void short_members(void) {
  for (int round = 0; round < repeats(10); round++) {
    ask_for_workers(0);
    two_members_each(10);
    usleep(1000);  // time to fall asleep
    ask_for_workers(1);
    two_members_each(50);
    usleep(1000);
    two_members_each(50);
  }
  ask_for_workers(0);
  two_members_each(10);
}

static int descending(const void* one, const void* other) { return *(const int*)other - *(const int*)one; }

// Of a hundred members, how many ran on those `workers` kernel threads that ran the most.
static int percent_on_the_busiest(int workers) {
  enum { REGIONS = 10, ALL = REGIONS * MEMBERS };
  int threads[ALL], ran[ALL] = {0}, most = 0;
  for (int region = 0; region < REGIONS; region++) {
#pragma omp parallel num_threads(MEMBERS)
    {
      busy_for(0.001);
      threads[region * MEMBERS + omp_get_thread_num()] = thread_id();
    }
  }
  for (int one = 0; one < ALL; one++) {
    int first = 0;
    while (threads[first] != threads[one]) first++;
    ran[first]++;
  }
  qsort(ran, ALL, sizeof *ran, descending);
  for (int busy = 0; busy < workers; busy++) most += ran[busy];
  return most * 100 / ALL;
}

// A while after the change, what ran then has come to its end. On a loaded machine a kernel thread more may stand in
// for one that does not get its CPU.
static void no_more_than_asked_for(void) {
  percent_on_the_busiest(MEMBERS);
  for (int workers = 1; workers <= 4; workers++) {
    ask_for_workers(workers);
    int percent = 0;
    const double end = seconds_now() + 30;
    while (percent < 95 && seconds_now() < end) percent = percent_on_the_busiest(workers);
    CHECK(percent >= 95, "%d %% of the members ran on %d kernel threads", percent, workers);
  }
}

static void a_child_has_all(void) {
  ask_for_workers(1);
  check_everything();
  const pid_t child = fork();
  CHECK(child >= 0, "fork: %s", strerror(errno));
  if (child == 0) {
    end_with_parent();
    check_everything();
    _exit(0);
  }
  expect_exit(wait_for_child(child, 60, "the child"), 0, "the child");
  check_everything();
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  // Before weft is there to obey: a command then is no more than an ignored signal.
  ask_for_workers(1);
  const struct Case cases[] = {
      {"any_number", any_number, 0},
      {"changed_in_the_midst", changed_in_the_midst, 0},
      {"members_that_spin", members_that_spin, 0},
      {"short_members", short_members, 0},
      {"no_more_than_asked_for", no_more_than_asked_for, 0},
      {"a_child_has_all", a_child_has_all, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
