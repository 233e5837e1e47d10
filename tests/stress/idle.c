// A process that waits uses no CPU, whatever it waits for; one that has not used OpenMP has no thread more.
#include "check.h"

#include <omp.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>

static void some_regions(void) {
  omp_set_max_active_levels(4);
  for (int i = 0; i < 20; i++) {
    long sum = 0;
#pragma omp parallel for num_threads(16) reduction(+ : sum)
    for (int j = 0; j < 1000; j++) {
      sum += j;
    }
    CHECK_EQUAL(sum, 499500, "sum");
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
#pragma omp single
#pragma omp taskloop
      for (int j = 0; j < 20; j++) {
#pragma omp atomic
        sum += 1;
      }
    }
    CHECK_EQUAL(sum, 499500 + 80, "sum with tasks");
  }
}

static void expect_idle_second(const char* after) {
  sleep_seconds(0.05);  // what spins for a moment after a region has stopped
  const double used = cpu_seconds_when_idle(1, 0.020);
  CHECK(used < 0.020, "%.1f ms of CPU time in an idle second after %s", used * 1e3, after);
}

static void after_regions(void) {
  some_regions();
  expect_idle_second("regions");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* region_then_wait(void* argument) {
  some_regions();
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return argument;
}

static void with_waiting_roots(void) {
  pthread_t threads[8];
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < 8; i++) {
    CHECK(pthread_create(&threads[i], NULL, region_then_wait, NULL) == 0, "pthread_create failed");
  }
  some_regions();
  sleep_seconds(0.5);
  expect_idle_second("the regions of several roots");
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
  }
}

// Members that wait for one that sleeps: in a barrier, at the end of a region, at a lock, for tasks. For 2 s in all;
// the CPU time that they use.
static double used_while_a_member_sleeps(omp_lock_t* lock) {
  const double before = cpu_seconds_of_process();
#pragma omp parallel num_threads(8)
  {
    if (omp_get_thread_num() == 3) {
      sleep_seconds(0.5);
    }
#pragma omp barrier
    if (omp_get_thread_num() == 5) {
      omp_set_lock(lock);
      sleep_seconds(0.5);
      omp_unset_lock(lock);
    }
    omp_set_lock(lock);
    omp_unset_lock(lock);
#pragma omp barrier
#pragma omp single
    {
#pragma omp task
      sleep_seconds(0.5);
#pragma omp taskwait
    }
    if (omp_get_thread_num() == 2) {
      sleep_seconds(0.5);
    }
  }
  return cpu_seconds_of_process() - before;
}

static void while_a_member_sleeps(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  some_regions();
  double used = 1;
  for (int i = 0; i < 10 && used >= 0.2; i++) {
    used = used_while_a_member_sleeps(&lock);
  }
  omp_destroy_lock(&lock);
  CHECK(used < 0.2, "%.1f ms of CPU time in 2 s in which all members sleep or wait", used * 1e3);
}

static void unused_starts_no_thread(void) {
  CHECK_EQUAL(threads_of_process(), 1, "kernel threads of a process that has not used OpenMP");
  CHECK(omp_get_max_threads() > 0 && omp_get_num_procs() > 0 && !omp_in_parallel(), "omp routines");
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  CHECK_EQUAL(threads_of_process(), 1, "kernel threads of a process that has only asked omp routines");
  CHECK(cpu_seconds_when_idle(0.5, 0.005) < 0.005, "an unused runtime uses CPU time");
}

// A region of one member needs no other thread.
static void serial_regions_start_no_thread(void) {
  int count = 0;
#pragma omp parallel num_threads(1)
  count++;
#pragma omp parallel num_threads(8) if (0)
  count++;
  CHECK_EQUAL(count, 2, "serial regions");
  CHECK_EQUAL(threads_of_process(), 1, "kernel threads after serial regions");
}

// CPU time: what else the machine does, and for how long the child waits for it, does not count.
static double cpu_seconds_of_true(const char* preload) {
  char setting[600];
  snprintf(setting, sizeof setting, "LD_PRELOAD=%s", preload ? preload : "");
  char* settings[] = {setting, NULL};
  char program[] = "true";
  char* arguments[] = {program, NULL};
  pid_t child = 0;
  int status = 0;
  struct rusage used;
  CHECK(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, settings) == 0, "posix_spawn failed");
  CHECK(wait4(child, &status, 0, &used) == child, "wait4: %s", strerror(errno));
  CHECK(status == 0, "true ended with status %d", status);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

static void start_is_cheap(void) {
  const char* preload = getenv("LD_PRELOAD");
  CHECK(preload != NULL, "this case measures what LD_PRELOAD loads");
  double without = 1e9, with = 1e9;
  for (int i = 0; i < 60; i++) {
    const double alone = cpu_seconds_of_true(NULL), both = cpu_seconds_of_true(preload);
    without = alone < without ? alone : without;
    with = both < with ? both : with;
  }
  CHECK(with - without < 0.001, "loading the runtime adds %.2f ms to the start of a process", (with - without) * 1e3);
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"after_regions", after_regions, 0},
      {"with_waiting_roots", with_waiting_roots, 0},
      {"while_a_member_sleeps", while_a_member_sleeps, 0},
      {"unused_starts_no_thread", unused_starts_no_thread, 0},
      {"serial_regions_start_no_thread", serial_regions_start_no_thread, 0},
      {"start_is_cheap", start_is_cheap, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
