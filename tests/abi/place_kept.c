/* A member runs on the CPUs of its place and nowhere else, whatever it has waited for and whoever resumed it; so does
 * the thread that opens regions. Run with OMP_PLACES={0},{1}, any number of threads and workers. */
#include <pthread.h>

#include "place.h"

/* The calling thread belongs to this place: is it there? */
static void check_place(int place) {
  CHECK_EQ(omp_get_place_num(), place);
  CHECK(is_in_place());
}

static void waits_of_all_kinds(int rounds) {
  int sum = 0;
#pragma omp parallel
  {
    const int place = omp_get_place_num();
    for (int round = 0; round < rounds; ++round) {
      check_place(place);
#pragma omp barrier
      check_place(place);
#pragma omp critical
      {
        check_place(place);
        ++sum;
      }
      check_place(place);
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < 16; ++i) check_work(100);
#pragma omp task firstprivate(round)
      check_work(round);
#pragma omp taskyield
      check_place(place);
#pragma omp taskwait
      check_place(place);
#pragma omp single
      for (int i = 0; i < 8; ++i) {
#pragma omp task
        check_place(omp_get_place_num());
      }
      check_place(place);
    }
  }
  CHECK_EQ(sum, rounds * omp_get_max_threads());
}

static void regions_within_regions(void) {
#pragma omp parallel num_threads(3) proc_bind(spread)
  {
    const int outer = omp_get_place_num();
#pragma omp parallel num_threads(3) proc_bind(close)
    {
      const int inner = omp_get_place_num();
      check_place(inner);
#pragma omp barrier
      check_place(inner);
    }
    check_place(outer);
#pragma omp parallel num_threads(2) proc_bind(primary)
    {
      check_place(outer);
#pragma omp barrier
      check_place(outer);
    }
    check_place(outer);
  }
}

/* Members that are done leave their seats to whoever runs the tasks. */
static void tasks_on_vacant_seats(void) {
#pragma omp parallel
#pragma omp single nowait
  for (int i = 0; i < 64; ++i) {
#pragma omp task
    {
      const int place = omp_get_place_num();
      check_place(place);
#pragma omp taskyield
      check_place(place);
    }
  }
}

static void league(void) {
#pragma omp teams num_teams(3) thread_limit(2)
  for (int again = 0; again < 2; ++again) {
#pragma omp parallel num_threads(2)
    {
      const int own = omp_get_place_num();
      check_place(own);
#pragma omp barrier
      check_place(own);
    }
  }
}

static void* other_thread(void* unused) {
  const int place = omp_get_place_num();
  for (int again = 0; again < 3; ++again) {
    waits_of_all_kinds(2);
    check_place(place);
  }
  return unused;
}

int main(void) {
  check_runtime();
  if (omp_get_num_places() != 2) {
    puts("not run: CPUs 0 and 1 are not both usable");
    return 0;
  }
  const int place = omp_get_place_num();
  check_place(place);
  waits_of_all_kinds(20);
  check_place(place);
  omp_set_max_active_levels(3);
  for (int again = 0; again < 10; ++again) {
    regions_within_regions();
    tasks_on_vacant_seats();
    league();
    check_place(place);
  }
  pthread_t others[2];
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_create(&others[i], NULL, other_thread, NULL), 0);
  waits_of_all_kinds(5);
  for (int i = 0; i < 2; ++i) pthread_join(others[i], NULL);
  check_place(place);
  return check_finish();
}
