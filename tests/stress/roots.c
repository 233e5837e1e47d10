// Roots: threads of the program's own that open regions. Any number at once, coming and going, and each stays
// on the kernel thread it was started on.
#include "check.h"

#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_t start(void* (*function)(void*), void* argument) {
  pthread_t thread;
  const int error = pthread_create(&thread, NULL, function, argument);
  CHECK(error == 0, "pthread_create: %s", strerror(error));
  return thread;
}

// Each region checks that it is its own: nobody else's members count in it.
static void flat_region(int members) {
  int present = 0;
  int after = 0;
#pragma omp parallel num_threads(members) shared(present, after)
  {
#pragma omp atomic
    present += 1;
#pragma omp barrier
    int seen;
#pragma omp atomic read
    seen = present;
    CHECK_EQUAL(seen, members, "members that arrived before the barrier");
#pragma omp atomic
    after += 1;
  }
  CHECK_EQUAL(after, members, "members that left the region");
}

static void nested_region(int outer, int inner) {
  int total = 0;
  omp_set_max_active_levels(4);  // a setting of the calling thread
#pragma omp parallel num_threads(outer) reduction(+ : total)
  {
    int here = 0;
    const int mine = omp_get_thread_num();
#pragma omp parallel num_threads(inner)
    {
      CHECK_EQUAL(omp_get_ancestor_thread_num(1), mine, "number of the parent");
#pragma omp barrier
#pragma omp atomic
      here += 1;
    }
    CHECK_EQUAL(here, inner, "members of an inner region");
    total += here;
  }
  CHECK_EQUAL(total, outer * inner, "members of all inner regions");
}

static long task_fibonacci(int n) {
  long a;
  long b;
  if (n < 2) {
    return n;
  }
#pragma omp task shared(a)
  a = task_fibonacci(n - 1);
  b = task_fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void task_region(int members) {
  long result = 0;
#pragma omp parallel num_threads(members)
#pragma omp single
  result = task_fibonacci(12);
  CHECK_EQUAL(result, 144, "fibonacci of 12 by tasks");
}

static void* open_regions(void* argument) {
  const int mine = (int)(intptr_t)argument;
  for (int i = 0; i < repeats(20); i++) {
    flat_region(1 + (mine + i) % 9);
    nested_region(1 + i % 4, 1 + mine % 5);
    task_region(1 + (mine + i) % 4);
  }
  return NULL;
}

static void sixteen_roots(void) {
  pthread_t threads[16];
  for (int i = 0; i < 16; i++) {
    threads[i] = start(open_regions, (void*)(intptr_t)i);
  }
  open_regions((void*)16);
  for (int i = 0; i < 16; i++) {
    pthread_join(threads[i], NULL);
  }
}

// Settings belong to the thread that makes them.
static void* own_settings(void* argument) {
  const int mine = 1 + (int)(intptr_t)argument;
  CHECK_EQUAL(omp_get_max_threads(), 3, "number of threads a new pthread starts with");
  omp_set_num_threads(mine);
  for (int i = 0; i < repeats(30); i++) {
    int members = 0;
#pragma omp parallel reduction(+ : members)
    members += 1;
    CHECK_EQUAL(members, mine, "members by the setting of this pthread");
    CHECK_EQUAL(omp_get_max_threads(), mine, "omp_get_max_threads of this pthread");
    CHECK(omp_get_level() == 0 && omp_get_thread_num() == 0 && !omp_in_parallel(), "outside: level %d",
          omp_get_level());
  }
  return NULL;
}

static void settings_per_root(void) {
  // OMP_NUM_THREADS=3 comes with this case.
  const char* number = getenv("OMP_NUM_THREADS");
  if (!number || strcmp(number, "3") != 0) {
    const struct Run run = run_again("settings_per_root", (struct RunOptions){.environment = {"OMP_NUM_THREADS=3"}});
    CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "%s", run.errors);
    return;
  }
  pthread_t threads[12];
  for (int i = 0; i < 12; i++) {
    threads[i] = start(own_settings, (void*)(intptr_t)i);
  }
  for (int i = 0; i < 12; i++) {
    pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(omp_get_max_threads(), 3, "number of threads of main");
}

// The named critical section and the default one are of the whole program.
static int unprotected_count;

static void* count_in_critical(void* argument) {
  (void)argument;
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(4)
    for (int j = 0; j < 25; j++) {
#pragma omp critical
      unprotected_count++;
    }
  }
  return NULL;
}

static void critical_across_roots(void) {
  pthread_t threads[16];
  unprotected_count = 0;
  for (int i = 0; i < 16; i++) {
    threads[i] = start(count_in_critical, NULL);
  }
  for (int i = 0; i < 16; i++) {
    pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(unprotected_count, 16 * 20 * 4 * 25, "count in a critical section of all roots");
}

// Threads that come and go.
static void* one_region(void* argument) {
  flat_region(4);
  nested_region(2, 2);
  return argument;
}

static void come_and_go(int threads) {
  for (int i = 0; i < threads; i += 4) {
    pthread_t group[4];
    for (int j = 0; j < 4; j++) {
      group[j] = start(one_region, NULL);
    }
    for (int j = 0; j < 4; j++) {
      pthread_join(group[j], NULL);
    }
  }
}

// How many spare workers stand in at once is chance, the more so beside other programs, and each of them keeps
// something for later. What is lost with a root is lost in each block of them.
static void short_lived_roots_leak_nothing(void) {
  enum { blocks = 5 };
  come_and_go(200);  // what is kept for later is kept now
  int least_threads = INT_MAX;
  long least_memory = LONG_MAX;
  for (int i = 0; i < blocks; i++) {
    const int threads_before = threads_of_process();
    const long memory_before = resident_kilobytes();
    come_and_go(repeats(1000) / blocks);
    sleep_seconds(0.1);
    const int threads = threads_of_process() - threads_before;
    const long memory = resident_kilobytes() - memory_before;
    least_threads = threads < least_threads ? threads : least_threads;
    least_memory = memory < least_memory ? memory : least_memory;
  }
  CHECK(least_threads <= 32 / blocks, "%d more kernel threads with each block of short-lived roots", least_threads);
  CHECK(least_memory <= 20 * 1024L / blocks, "%ld kB more with each block of short-lived roots", least_memory);
}

// At places members are resumed by whoever attends their place, not by the worker that they were suspended on.
static void short_lived_roots_at_places_leak_nothing(void) {
  const char* places[] = {"OMP_PLACES=sockets", "OMP_PLACES=threads"};
  for (int i = 0; i < 2; i++) {
    const struct RunOptions options = {.environment = {places[i]}, .deadline_seconds = 60.0 * repeats(1)};
    const struct Run run = run_again("short_lived_roots_leak_nothing", options);
    CHECK(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 0, "%s: %s", places[i], run.errors);
  }
}

// A thread comes to the runtime in each round of its keys' destructors: in the last one after the runtime's own.
static pthread_key_t region_again;

static void open_region_again(void* argument) {
  flat_region(2);
  pthread_setspecific(region_again, argument);
}

static void* open_regions_at_the_end(void* argument) {
  pthread_setspecific(region_again, &region_again);
  return argument;
}

// (Bug: nobody was told when such a thread ended, and what it had as a root was lost.)
static void roots_that_come_as_they_end_leak_nothing(void) {
  enum { blocks = 5 };
  const int threads = repeats(1000) / blocks;
  long least = LONG_MAX;
  flat_region(2);  // before: so that the runtime's key is the older one
  CHECK(pthread_key_create(&region_again, open_region_again) == 0, "no key");
  for (int i = 0; i <= blocks; i++) {
    const long before = resident_kilobytes();
    for (int j = 0; j < threads; j++) {
      pthread_join(start(open_regions_at_the_end, NULL), NULL);
    }
    const long grown = resident_kilobytes() - before;
    if (i > 0 && grown < least) {  // in the first one what is kept for later is kept
      least = grown;
    }
  }
  CHECK(least <= 5L * threads, "%ld kB more with each %d threads that came back as they ended", least, threads);
}

// A root ends while others run, and while the members it started have just left.
static atomic_int running;

static void* keep_running(void* argument) {
  (void)argument;
  while (atomic_load(&running)) {
    flat_region(6);
  }
  return NULL;
}

static void roots_end_while_others_run(void) {
  pthread_t others[4];
  atomic_store(&running, 1);
  for (int i = 0; i < 4; i++) {
    others[i] = start(keep_running, NULL);
  }
  for (int i = 0; i < repeats(100); i++) {
    pthread_t brief = start(one_region, NULL);
    if (i % 2) {
      pthread_detach(brief);
    } else {
      pthread_join(brief, NULL);
    }
  }
  atomic_store(&running, 0);
  for (int i = 0; i < 4; i++) {
    pthread_join(others[i], NULL);
  }
}

// pthread_exit, and cancellation, of a root that has opened regions.
static void* exit_by_call(void* argument) {
  flat_region(4);
  pthread_exit(argument);
}

static void* wait_to_be_cancelled(void* argument) {
  flat_region(4);
  atomic_store((atomic_int*)argument, 1);
  for (;;) {
    sleep(1);
  }
  return NULL;
}

static void roots_end_by_exit_and_cancel(void) {
  for (int i = 0; i < repeats(20); i++) {
    void* result = NULL;
    pthread_join(start(exit_by_call, &running), &result);
    CHECK(result == &running, "result of pthread_exit is lost");
    atomic_int ready;
    atomic_init(&ready, 0);
    pthread_t thread = start(wait_to_be_cancelled, &ready);
    while (!atomic_load(&ready)) {
      sleep_seconds(0.0005);
    }
    pthread_cancel(thread);
    pthread_join(thread, &result);
    CHECK(result == PTHREAD_CANCELED, "a cancelled root gives another result");
  }
  flat_region(8);
}

// A root keeps its kernel thread, its pthread_self() and its stack, inside regions as master and across them.
static void* stay_on_one_kernel_thread(void* argument) {
  (void)argument;
  const pid_t kernel_thread = thread_id();
  const pthread_t self = pthread_self();
  static __thread int own;
  int* const own_address = &own;
  for (int i = 0; i < repeats(40); i++) {
    own = i;
#pragma omp parallel num_threads(8)
    {
#pragma omp master
      {
        CHECK_EQUAL(thread_id(), kernel_thread, "gettid of the master in a region");
        CHECK(pthread_equal(pthread_self(), self), "pthread_self of the master in a region changed");
      }
#pragma omp barrier
#pragma omp master
      {
        CHECK_EQUAL(thread_id(), kernel_thread, "gettid of the master after a barrier");
        CHECK(pthread_equal(pthread_self(), self), "pthread_self of the master after a barrier changed");
      }
#pragma omp single
      for (int j = 0; j < 20; j++) {
#pragma omp task
        sched_yield();
      }
#pragma omp taskwait
#pragma omp master
      CHECK_EQUAL(thread_id(), kernel_thread, "gettid of the master after tasks");
    }
    CHECK_EQUAL(thread_id(), kernel_thread, "gettid of a root after a region");
    CHECK(pthread_equal(pthread_self(), self), "pthread_self of a root after a region changed");
    CHECK(&own == own_address && own == i, "the thread-local data of a root moved");
  }
  return NULL;
}

static void roots_stay_on_their_kernel_threads(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) {
    threads[i] = start(stay_on_one_kernel_thread, NULL);
  }
  CHECK_EQUAL(thread_id(), getpid(), "gettid of main");
  stay_on_one_kernel_thread(NULL);
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
  }
}

// A pthread that a member creates is a root like any other.
static void* region_below_member(void* argument) {
  CHECK_EQUAL(omp_get_level(), 0, "level of a pthread that a member created");
  CHECK_EQUAL(omp_get_num_threads(), 1, "team of a pthread that a member created");
  flat_region(3);
  return argument;
}

static void members_create_roots(void) {
  for (int i = 0; i < repeats(10); i++) {
#pragma omp parallel num_threads(8)
    {
      const pthread_t thread = start(region_below_member, NULL);
#pragma omp barrier
      pthread_join(thread, NULL);
    }
  }
}

// Roots wait for each other by pthread means, outside and inside regions.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;

static void* take_turns(void* argument) {
  const int mine = (int)(intptr_t)argument;
  for (int i = 0; i < 50; i++) {
    pthread_mutex_lock(&mutex);
    while (turn % 4 != mine) {
      pthread_cond_wait(&condition, &mutex);
    }
    flat_region(4);  // with the mutex held
    turn++;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void roots_take_turns(void) {
  pthread_t threads[4];
  turn = 0;
  for (int i = 0; i < 4; i++) {
    threads[i] = start(take_turns, (void*)(intptr_t)i);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
  CHECK_EQUAL(turn, 200, "turns taken");
}

// Two masters that wait for each other inside their regions: neither may run on the other's stack.
static pthread_barrier_t meeting;

static void* meet_inside_region(void* argument) {
  for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(4)
    {
#pragma omp barrier
#pragma omp master
      pthread_barrier_wait(&meeting);
    }
  }
  return argument;
}

static void masters_wait_for_each_other(void) {
  enum { roots = 6 };
  pthread_t threads[roots];
  pthread_barrier_init(&meeting, NULL, roots);
  for (int i = 0; i < roots; i++) {
    threads[i] = start(meet_inside_region, NULL);
  }
  for (int i = 0; i < roots; i++) {
    pthread_join(threads[i], NULL);
  }
  pthread_barrier_destroy(&meeting);
}

// A root with a small stack of its own.
static void root_with_small_stack(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_t threads[8];
  for (int i = 0; i < 8; i++) {
    CHECK(pthread_create(&threads[i], &attributes, one_region, NULL) == 0, "pthread_create with a small stack");
  }
  for (int i = 0; i < 8; i++) {
    pthread_join(threads[i], NULL);
  }
  pthread_attr_destroy(&attributes);
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"sixteen_roots", sixteen_roots, 0},
      {"settings_per_root", settings_per_root, 0},
      {"critical_across_roots", critical_across_roots, 0},
      {"short_lived_roots_leak_nothing", short_lived_roots_leak_nothing, 0},
      {"short_lived_roots_at_places_leak_nothing", short_lived_roots_at_places_leak_nothing, 0},
      {"roots_that_come_as_they_end_leak_nothing", roots_that_come_as_they_end_leak_nothing, 0},
      {"roots_end_while_others_run", roots_end_while_others_run, 0},
      {"roots_end_by_exit_and_cancel", roots_end_by_exit_and_cancel, 0},
      {"roots_stay_on_their_kernel_threads", roots_stay_on_their_kernel_threads, 0},
      {"members_create_roots", members_create_roots, 0},
      {"roots_take_turns", roots_take_turns, 0},
      {"masters_wait_for_each_other", masters_wait_for_each_other, 0},
      {"root_with_small_stack", root_with_small_stack, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
