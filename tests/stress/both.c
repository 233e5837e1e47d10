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

static weft_unit* create_unit(weft_technique technique, void (*function)(void*), void* argument, weft_preemption kind,
                              unsigned flags) {
  weft_unit_attr attr = WEFT_UNIT_ATTR_INIT;
  attr.technique = technique;
  attr.flags = flags;
  attr.preemption = kind;
  weft_unit* unit = NULL;
  CHECK_EQUAL(weft_unit_create(function, argument, &attr, &unit), WEFT_OK, "weft_unit_create");
  return unit;
}

// Joins a unit that spins until another one has run, which waits behind it.
static void join_one_that_spins(weft_preemption kind) {
  atomic_int flag = 0;
  weft_unit* const sets = create_unit(WEFT_FULL_L, set, &flag, kind, WEFT_OWN_TLS);
  weft_unit* const spins = create_unit(WEFT_FULL_L, spin_until_set, &flag, kind, WEFT_OWN_TLS);
  CHECK_EQUAL(weft_unit_free(spins), WEFT_OK, "weft_unit_free");
  CHECK_EQUAL(weft_unit_free(sets), WEFT_OK, "weft_unit_free");
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
      weft_unit* unit =
          create_unit(WEFT_FULL, open_region_with_units_that_spin, NULL, WEFT_PREEMPT_KLT_SWITCH, WEFT_OWN_TLS);
      CHECK_EQUAL(weft_unit_free(unit), WEFT_OK, "weft_unit_free");
    }
  }
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

// ---------------------------------------------------------------- members that move, and members on top of units

static int this_kernel_thread(void) { return (int)syscall(SYS_gettid); }

static void do_nothing(void* nothing) { (void)nothing; }

// On the storage of the member that runs it: OpenMP has that go on on another kernel thread, for others wait.
static void compute_until_moved(void* nothing) {
  (void)nothing;
  const int before = this_kernel_thread();
  const double end = seconds_now() + 0.2;
  while (this_kernel_thread() == before && seconds_now() < end) {
    for (volatile int i = 0; i < 200000; i++) {
    }
  }
}

// (Bug: a member that had moved in the midst of a unit, and then lent its worker, was followed by its worker, but not
// by the timer of that, for ever.)
static void the_timer_follows_a_member_that_moves_in_a_unit(void) {
  start_libweft_alone();
  for (int i = 0; i < repeats(10); i++) {
    atomic_int is_over = 0;
#pragma omp parallel num_threads(5)
    if (omp_get_thread_num() == 3) {
      weft_yield();
      weft_unit* lends = create_unit(WEFT_FULL_L, do_nothing, NULL, WEFT_PREEMPT_KLT_SWITCH, WEFT_OWN_TLS);
      weft_unit* moves = create_unit(WEFT_FULL_L, compute_until_moved, NULL, WEFT_PREEMPT_NONE, 0);
      CHECK_EQUAL(weft_unit_free(lends), WEFT_OK, "weft_unit_free");
      CHECK_EQUAL(weft_unit_free(moves), WEFT_OK, "weft_unit_free");
      join_one_that_spins(WEFT_PREEMPT_SIGNAL_YIELD);
      atomic_store(&is_over, 1);
    } else {
      spin_until_set(&is_over);
    }
  }
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

static struct {
  omp_lock_t lock;
  int kernel_thread;  // of the unit below
  atomic_int holder;  // of the lock, there is one
  atomic_int lock_held;
  atomic_int members_left;   // that may come to be on top
  atomic_int on_top;         // one is, or none will be
  atomic_int other_has_run;  // of the two units
  atomic_int goes_on;        // the unit below
} top;

static void run_when_one_is_on_top(void* nothing) {
  (void)nothing;
  while (!atomic_load(&top.on_top)) {
    weft_yield();
  }
  atomic_store(&top.other_has_run, 1);
}

static void hold_lock(void) {
  omp_set_lock(&top.lock);
  atomic_store(&top.lock_held, 1);
  spin_until_set(&top.other_has_run);
  omp_unset_lock(&top.lock);
}

static void spin_on_top(void) {
  if (this_kernel_thread() == top.kernel_thread) {
    atomic_store(&top.on_top, 1);
    spin_until_set(&top.goes_on);
  } else if (atomic_fetch_sub(&top.members_left, 1) == 1) {
    atomic_store(&top.on_top, 1);
  }
}

// While it waits for the lock, its kernel thread runs another member of its region on top of it, on storage of that
// one.
static void wait_for_lock(void* nothing) {
  (void)nothing;
  enum { members = 6 };
  top.kernel_thread = this_kernel_thread();
  atomic_store(&top.members_left, members - 2);
#pragma omp parallel num_threads(members)
  if (omp_get_thread_num() == 0) {
    spin_until_set(&top.lock_held);
    omp_set_lock(&top.lock);
    atomic_store(&top.goes_on, 1);
    omp_unset_lock(&top.lock);
  } else if (atomic_exchange(&top.holder, 1) == 0) {
    hold_lock();
  } else {
    spin_on_top();
  }
}

// The ticks that should make the unit give way find that storage, and nobody to interrupt. (Bug: what waited for the
// worker did so for ever.)
static void others_run_beside_a_unit_with_a_member_on_top(void) {
  start_libweft_alone();
  omp_init_lock(&top.lock);
  for (int i = 0; i < repeats(10); i++) {
    atomic_store(&top.holder, 0);
    atomic_store(&top.lock_held, 0);
    atomic_store(&top.on_top, 0);
    atomic_store(&top.other_has_run, 0);
    atomic_store(&top.goes_on, 0);
    weft_unit* other = create_unit(WEFT_FULL_L, run_when_one_is_on_top, NULL, WEFT_PREEMPT_NONE, 0);
    weft_unit* below = create_unit(WEFT_FULL_L, wait_for_lock, NULL, WEFT_PREEMPT_KLT_SWITCH, WEFT_OWN_TLS);
    CHECK_EQUAL(weft_unit_free(below), WEFT_OK, "weft_unit_free");
    CHECK_EQUAL(weft_unit_free(other), WEFT_OK, "weft_unit_free");
  }
  omp_destroy_lock(&top.lock);
  CHECK_EQUAL(weft_finalize(), WEFT_OK, "weft_finalize");
}

static struct {
  weft_unit* region;  // the unit that has one,
  weft_unit* other;   // and the one that it is left for
  atomic_int member_waits;
  atomic_int other_runs;
  atomic_int member_joins;
} taken;

// The only worker besides the member's is its own until the region's unit has gone on there.
static void run_until_other_is_taken(void* nothing) {
  (void)nothing;
  while (!atomic_load(&taken.member_waits)) {
    weft_yield();
  }
  CHECK_EQUAL(weft_preempt_disable(), WEFT_OK, "weft_preempt_disable");
  atomic_store(&taken.other_runs, 1);
  spin_until_set(&taken.member_joins);
  const double end = seconds_now() + 0.2;
  while (weft_unit_state(taken.region) != WEFT_RUNNING && seconds_now() < end) {
  }
  CHECK_EQUAL(weft_preempt_enable(), WEFT_OK, "weft_preempt_enable");
}

static unsigned long long times_left(weft_unit* unit) {
  weft_unit_statistics statistics;
  CHECK_EQUAL(weft_unit_get_statistics(unit, &statistics), WEFT_OK, "weft_unit_get_statistics");
  return statistics.deviations;
}

// At first when it yields; then the unit has been left again, and lies at the member's worker.
static void run_unit_of_region(void) {
  const unsigned long long before = times_left(taken.region);
  const double end = seconds_now() + 0.2;
  while (times_left(taken.region) == before && seconds_now() < end) {
    CHECK_EQUAL(weft_yield(), WEFT_OK, "weft_yield");
  }
  atomic_store(&taken.member_joins, 1);
  CHECK_EQUAL(weft_unit_join(taken.other), WEFT_OK, "weft_unit_join");
}

static void open_region_that_waits(void* nothing) {
  (void)nothing;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    atomic_store(&taken.member_waits, 1);
    spin_until_set(&taken.other_runs);
    run_unit_of_region();
  } else {
    spin_until_set(&taken.member_joins);
  }
}

// A member is a thread to libweft, and its worker runs whatever is ready: also the unit that has opened the region, and
// comes to wait there for the member. (Bug: what the member had waited for was there, and nobody else waited behind the
// unit. So that was not preempted, and the member did not go on.)
static void members_run_the_unit_that_waits_for_them(void) {
  start_libweft_alone();
  for (int i = 0; i < repeats(20); i++) {
    atomic_store(&taken.member_waits, 0);
    atomic_store(&taken.other_runs, 0);
    atomic_store(&taken.member_joins, 0);
    taken.other = create_unit(WEFT_FULL_L, run_until_other_is_taken, NULL, WEFT_PREEMPT_KLT_SWITCH, WEFT_OWN_TLS);
    taken.region = create_unit(WEFT_FULL_L, open_region_that_waits, NULL, WEFT_PREEMPT_KLT_SWITCH, WEFT_OWN_TLS);
    CHECK_EQUAL(weft_unit_join(taken.region), WEFT_OK, "weft_unit_join");
    CHECK_EQUAL(weft_unit_free(taken.other), WEFT_OK, "weft_unit_free");
    CHECK_EQUAL(weft_unit_free(taken.region), WEFT_OK, "weft_unit_free");
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
      {"the_timer_follows_a_member_that_moves_in_a_unit", the_timer_follows_a_member_that_moves_in_a_unit, 0},
      {"others_run_beside_a_unit_with_a_member_on_top", others_run_beside_a_unit_with_a_member_on_top, 0},
      {"members_run_the_unit_that_waits_for_them", members_run_the_unit_that_waits_for_them, 0},
      {NULL, NULL, 0},
  };
  return run_cases(count, arguments, cases);
}
