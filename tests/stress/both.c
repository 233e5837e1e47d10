// libweft and the OpenMP runtime of the drop-in in one process: each is a runtime of its own, and what is a member or a
// unit to the one is a thread of the program's to the other.
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <weft/weft.h>

#include "check.h"

// ---------------------------------------------------------------- units open regions

static void check_region(int members) {
  int sum = 0;
#pragma omp parallel num_threads(members) reduction(+ : sum)
  sum += omp_get_num_threads();
  CHECK_EQUAL(sum, members * members, "sum over the members");
}

enum { units_with_regions = 48, later_roots = 100 };
static weft_barrier among_units = WEFT_BARRIER_INIT(units_with_regions);
static weft_barrier with_main = WEFT_BARRIER_INIT(units_with_regions + 1);

static void open_region(void* nothing) {
  (void)nothing;
  weft_barrier_wait(&among_units, NULL);  // so each has storage of its own
  omp_set_num_threads(3);
  check_region(3);
}

static void open_regions_before_and_after(void* nothing) {
  (void)nothing;
  omp_set_num_threads(2);
  check_region(2);
  weft_barrier_wait(&with_main, NULL);
  weft_barrier_wait(&with_main, NULL);
  CHECK_EQUAL(omp_get_max_threads(), 2, "number of threads that the unit has set");
  check_region(4);
}

static void create_units(weft_unit* units[units_with_regions], void (*function)(void*)) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.flags = WEFT_OWN_TLS;
  for (int i = 0; i < units_with_regions; i++) {
    CHECK_EQUAL(weft_unit_create(function, NULL, &attr, &units[i]), WEFT_OK, "weft_unit_create");
  }
}

// Runs them, and ends: their storage, and what OpenMP keeps of them there, goes to others.
static void* run_units_and_end(void* nothing) {
  (void)nothing;
  weft_unit* units[units_with_regions];
  create_units(units, open_region);
  CHECK_EQUAL(weft_unit_free_many(units_with_regions, units), WEFT_OK, "weft_unit_free_many");
  return NULL;
}

static void* one_region(void* nothing) {
  (void)nothing;
  check_region(2);
  sleep_seconds(0.05);  // so that many are there at the same time
  return NULL;
}

// (Bug: the drop-in took them for threads that had ended, as the kernel thread on which they first came had.)
static void units_outlive_the_thread_that_ran_them(void) {
  CHECK_EQUAL(weft_init(), WEFT_OK, "weft_init");
  for (int i = 0; i < repeats(2); i++) {
    pthread_t first;
    CHECK(pthread_create(&first, NULL, run_units_and_end, NULL) == 0, "pthread_create");
    pthread_join(first, NULL);
    weft_unit* units[units_with_regions];
    create_units(units, open_regions_before_and_after);
    weft_barrier_wait(&with_main, NULL);
    pthread_t roots[later_roots];
    for (int j = 0; j < later_roots; j++) {
      CHECK(pthread_create(&roots[j], NULL, one_region, NULL) == 0, "pthread_create");
    }
    for (int j = 0; j < later_roots; j++) {
      pthread_join(roots[j], NULL);
    }
    weft_barrier_wait(&with_main, NULL);
    CHECK_EQUAL(weft_unit_free_many(units_with_regions, units), WEFT_OK, "weft_unit_free_many");
  }
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

// ---------------------------------------------------------------- members create units

static void add_one(void* number) {
  *(int*)number += 1;
  weft_yield();
}

static void use_units(void) {
  enum { some = 4 };
  int count = 0;
  for (int i = 0; i < some; i++) {
    weft_unit* unit = NULL;
    CHECK_EQUAL(weft_unit_create(add_one, &count, NULL, &unit), WEFT_OK, "weft_unit_create");
    CHECK_EQUAL(weft_unit_free(unit), WEFT_OK, "weft_unit_free");
  }
  CHECK_EQUAL(count, some, "units that have run");
}

static void* use_units_for_a_while(void* nothing) {
  (void)nothing;
  use_units();
  sleep_seconds(0.02);
  return NULL;
}

static void members_outlive_kernel_threads(void) {
  enum { members = 40, others = 60 };
  CHECK_EQUAL(weft_init(), WEFT_OK, "weft_init");
  for (int i = 0; i < repeats(4); i++) {
#pragma omp parallel num_threads(members)
    {
      use_units();
#pragma omp barrier
      use_units();
    }
    omp_pause_resource_all(omp_pause_soft);
    pthread_t threads[others];
    for (int j = 0; j < others; j++) {
      CHECK(pthread_create(&threads[j], NULL, use_units_for_a_while, NULL) == 0, "pthread_create");
    }
    for (int j = 0; j < others; j++) {
      pthread_join(threads[j], NULL);
    }
  }
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

// ---------------------------------------------------------------- members' units are preempted

static void spin_until_set(void* flag) {
  while (!atomic_load((atomic_int*)flag)) {
  }
}

static void set(void* flag) { atomic_store((atomic_int*)flag, 1); }

// Joins a unit that spins until another one has run, which waits behind it.
static void join_one_that_spins(weft_preemption kind) {
  atomic_int flag = 0;
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = WEFT_FULL_L;
  attr.flags = WEFT_OWN_TLS;
  attr.preemption = kind;
  weft_unit* units[2];
  CHECK_EQUAL(weft_unit_create(set, &flag, &attr, &units[0]), WEFT_OK, "weft_unit_create");
  CHECK_EQUAL(weft_unit_create(spin_until_set, &flag, &attr, &units[1]), WEFT_OK, "weft_unit_create");
  CHECK_EQUAL(weft_unit_free(units[1]), WEFT_OK, "weft_unit_free");
  CHECK_EQUAL(weft_unit_free(units[0]), WEFT_OK, "weft_unit_free");
}

// Members change kernel threads at barriers. (Bug: ticks went to the one on which a member had first come.)
static void preempt_in_members(weft_timer timer, weft_preemption kind) {
  CHECK_EQUAL(weft_preempt_timer(timer, 1000000), WEFT_OK, "weft_preempt_timer");
#pragma omp parallel num_threads(4)
  for (int i = 0; i < repeats(3); i++) {
    weft_yield();
    for (int j = 0; j < 3; j++) {
#pragma omp barrier
    }
    join_one_that_spins(kind);
  }
}

// libweft has no worker besides those of its roots, which could run the other unit. OpenMP has those that it was given.
static void start_libweft_alone(void) {
  const char* const given = getenv("WEFT_NUM_WORKERS");
  char before[16];
  snprintf(before, sizeof before, "%s", given != NULL ? given : "");
  omp_get_max_threads();  // OpenMP has read it
  setenv("WEFT_NUM_WORKERS", "1", 1);
  CHECK_EQUAL(weft_init(), WEFT_OK, "weft_init");
  setenv("WEFT_NUM_WORKERS", before, 1);
}

static void units_of_members_are_preempted(void) {
  start_libweft_alone();
  for (weft_timer timer = WEFT_TIMER_CREATION; timer <= WEFT_TIMER_CHAIN; timer++) {
    preempt_in_members(timer, WEFT_PREEMPT_SIGNAL_YIELD);
    preempt_in_members(timer, WEFT_PREEMPT_KLT_SWITCH);
  }
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

// Long enough for its worker to become the one whose timer ticks for all; then a member runs on its kernel thread, and
// waits there, in libweft, with the signal blocked. (Bug: the timer stayed there.)
static void open_region_with_units_that_spin(void* nothing) {
  (void)nothing;
  for (volatile int i = 0; i < 20000000; i++) {
  }
#pragma omp parallel num_threads(2)
  join_one_that_spins(WEFT_PREEMPT_KLT_SWITCH);
}

static void the_timer_goes_where_its_signal_comes(void) {
  start_libweft_alone();
  for (weft_timer timer = WEFT_TIMER_CREATION; timer <= WEFT_TIMER_CHAIN; timer++) {
    CHECK_EQUAL(weft_preempt_timer(timer, 1000000), WEFT_OK, "weft_preempt_timer");
    for (int i = 0; i < repeats(2); i++) {
      weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
      attr.technique = WEFT_FULL;
      attr.flags = WEFT_OWN_TLS;
      attr.preemption = WEFT_PREEMPT_KLT_SWITCH;
      weft_unit* unit = NULL;
      CHECK_EQUAL(weft_unit_create(open_region_with_units_that_spin, NULL, &attr, &unit), WEFT_OK, "weft_unit_create");
      CHECK_EQUAL(weft_unit_free(unit), WEFT_OK, "weft_unit_free");
    }
  }
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

int main(int count, char** arguments) {
  omp_set_dynamic(0);
  const struct Case cases[] = {
      {"units_outlive_the_thread_that_ran_them", units_outlive_the_thread_that_ran_them, 0},
      {"members_outlive_kernel_threads", members_outlive_kernel_threads, 0},
      {"units_of_members_are_preempted", units_of_members_are_preempted, 0},
      {"the_timer_goes_where_its_signal_comes", the_timer_goes_where_its_signal_comes, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
