/* OMP_PROC_BIND=unset at a level: members of its regions have no place, and run wherever there is a worker, though the
 * levels around them are bound. Run with OMP_PLACES={0},{1} and one of the lists below in OMP_PROC_BIND, with any
 * number of workers. */
#include "place.h"

#include <stdbool.h>
#include <sys/wait.h>

static bool alone; /* there is one worker */

static int cpus_allowed(void) {
  cpu_set_t mask;
  return sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
}

static void check_free(void) {
  int numbers[2] = {-1, -1};
  char cpus[16] = "";
  CHECK_EQ(omp_get_place_num(), -1);
  CHECK_EQ(omp_get_partition_num_places(), 2);
  omp_get_partition_place_nums(numbers);
  CHECK_EQ(numbers[0], 0);
  CHECK_EQ(numbers[1], 1);
  omp_capture_affinity(cpus, sizeof cpus, "%A");
  CHECK(strcmp(cpus, "0-1") == 0 || strcmp(cpus, "0,1") == 0);
}

static void check_place(int place) {
  CHECK_EQ(omp_get_place_num(), place);
  CHECK(is_in_place());
}

/* A region of members that take a while. Returns the CPUs that they ran on, as bits. */
static int cpus_of_members(int members, bool are_free) {
  const int place = omp_get_place_num();
  int cpus = 0, count = 0;
#pragma omp parallel num_threads(members)
  {
    const int number = omp_get_thread_num();
    for (int again = 0; again < 2; ++again) {
      if (number == 0 || !are_free)
        check_place(place); /* member 0 is the thread that opened the region */
      else
        check_free();
      const double end = omp_get_wtime() + 1e-4;
      while (omp_get_wtime() < end) check_work(100);
      if (number != 0) __atomic_or_fetch(&cpus, 1 << sched_getcpu(), __ATOMIC_RELAXED);
      check_add(&count, 1);
#pragma omp barrier
    }
  }
  CHECK_EQ(count, 2 * members);
  return cpus;
}

/* Both members of an outer region are at their places; what each opens while the other waits is run by both places'
 * workers, or is not. */
static void within_spread(bool are_free) {
#pragma omp parallel num_threads(2)
  {
    const int place = omp_get_place_num();
    CHECK_EQ(place, omp_get_thread_num());
    CHECK_EQ(omp_get_proc_bind() == omp_proc_bind_false, are_free);
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == place) {
        const double deadline = omp_get_wtime() + 60;
        int cpus = 0;
        if (are_free && !alone) {
          while (cpus != 3 && omp_get_wtime() < deadline) cpus |= cpus_of_members(8, true);
          CHECK_EQ(cpus, 3);
        } else {
          for (int again = 0; again < 10; ++again) cpus |= cpus_of_members(8, are_free);
          if (!are_free) CHECK_EQ(cpus, 1 << place);
        }
        check_place(place);
      }
#pragma omp barrier
      check_place(place);
    }
  }
}

/* Deeper levels inherit it; tasks have no place either. */
static void deeper(void) {
  int members = 0, tasks = 0;
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(3)
  {
    const int place = omp_get_place_num();
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
#pragma omp single
    for (int i = 0; i < 16; ++i) {
#pragma omp task
      check_add(&tasks, 1);
    }
#pragma omp parallel num_threads(2)
    {
      if (omp_get_thread_num() == 0)
        CHECK_EQ(omp_get_place_num(), place);
      else
        check_free();
      check_add(&members, 1);
#pragma omp barrier
    }
    CHECK_EQ(omp_get_place_num(), place);
  }
  CHECK_EQ(members, 12);
  CHECK_EQ(tasks, 32);
}

/* A clause says more than the list. */
static void clause_within(void) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(4) proc_bind(spread)
  {
    check_place(omp_get_place_num());
#pragma omp barrier
    check_place(omp_get_place_num());
  }
}

static void fork_within(void) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    const pid_t child = fork();
    if (child == 0) {
      const bool good = omp_get_place_num() == -1 && cpus_allowed() == 2;
      _exit(good ? 0 : 1);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
  }
}

static void league(void) {
  int members = 0;
#pragma omp teams num_teams(3) thread_limit(4)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  {
    check_add(&members, 1);
#pragma omp barrier
  }
  CHECK_EQ(members, 3 * 2 * 2);
}

/* The outer members are free, and those of the regions that they open are bound. */
static void spread_within(int rounds) {
  CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
  check_free();
  CHECK_EQ(cpus_allowed(), 2);
#pragma omp parallel num_threads(4)
  for (int round = 0; round < rounds; ++round) {
    int places = 0;
    check_free();
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_spread);
#pragma omp parallel num_threads(2)
    {
      const int place = omp_get_place_num();
      CHECK_EQ(omp_get_partition_num_places(), 1);
      check_place(place);
#pragma omp barrier
      check_place(place);
      check_add(&places, place + 1);
    }
    CHECK_EQ(places, 3); /* one at each */
    check_free();
#pragma omp barrier
    check_free();
  }
  check_free();
  CHECK_EQ(cpus_allowed(), 2);
}

/* There are places, but only clauses speak of them. */
static void clauses_alone(void) {
  CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
  CHECK_EQ(omp_get_num_places(), 2);
  for (int again = 0; again < 5; ++again) {
    check_free();
#pragma omp parallel num_threads(4)
    check_free();
    int places = 0;
#pragma omp parallel num_threads(2) proc_bind(close)
    {
      const int place = omp_get_place_num();
      CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_close);
#pragma omp barrier
      check_place(place);
      check_add(&places, place + 1);
    }
    CHECK_EQ(places, 3);
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_false);
    CHECK_EQ(cpus_allowed(), 2);
  }
}

int main(int argc, char** argv) {
  const char* workers = getenv("WEFT_NUM_WORKERS");
  const char* list = getenv("OMP_PROC_BIND");
  check_runtime();
  if (list == NULL) {
    fprintf(stderr, "%s: OMP_PROC_BIND is not set\n", argv[argc - 1]);
    return 2;
  }
  if (omp_get_num_places() != 2) {
    puts("not run: CPUs 0 and 1 are not both usable");
    return 0;
  }
  alone = workers != NULL && atoi(workers) == 1;
  omp_set_max_active_levels(4);
  if (strcmp(list, "spread") == 0 || strcmp(list, "spread,close") == 0) {
    within_spread(false);
  } else if (strcmp(list, "spread,unset") == 0) {
    CHECK_EQ(omp_get_proc_bind(), omp_proc_bind_spread);
    within_spread(true);
    deeper();
    clause_within();
    league();
    fork_within();
    check_place(0);
  } else if (strcmp(list, "unset,spread") == 0) {
    spread_within(50);
  } else if (strcmp(list, "unset") == 0) {
    clauses_alone();
  } else {
    fprintf(stderr, "no such case: %s\n", list);
    return 2;
  }
  return check_finish();
}
