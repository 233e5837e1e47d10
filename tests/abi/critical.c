/* critical: unnamed, named, with hint; mutual exclusion holds over all members of all teams. */
#include "check.h"

/* Shared by every context that runs the body at once: a critical name is global to the program. */
static long unnamed_counter, first_counter, second_counter, hinted_counter;
static int inside_unnamed, inside_first;

static void count(void) {
  const int rounds = CHECK_SCALE(200);
#pragma omp parallel
  for (int i = 0; i < rounds; ++i) {
#pragma omp critical
    {
      CHECK_EQ(check_add(&inside_unnamed, 1), 1);
      ++unnamed_counter;
      check_add(&inside_unnamed, -1);
    }
#pragma omp critical(weft_first)
    {
      CHECK_EQ(check_add(&inside_first, 1), 1);
      ++first_counter;
      check_add(&inside_first, -1);
    }
#pragma omp critical(weft_second)
    ++second_counter;
#pragma omp critical(weft_hinted) hint(omp_sync_hint_contended)
    ++hinted_counter;
  }
}

/* Differently named sections nest; the inner ones are taken in one order. */
static void nested_names(void) {
  int sum = 0;
#pragma omp parallel
  for (int i = 0; i < 20; ++i) {
#pragma omp critical(weft_outer)
    {
#pragma omp critical(weft_inner)
      ++sum;
    }
  }
  CHECK_EQ(sum, 20 * omp_get_max_threads());
}

/* A region inside a critical section: its members are not kept out by the section that surrounds them. */
static void region_inside(void) {
  int sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp critical(weft_region)
  {
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += 1;
  }
  CHECK_GE(sum, 4);
}

/* Tasks that meet in a critical section. */
static void between_tasks(void) {
  int sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task shared(sum)
    {
#pragma omp critical(weft_tasks)
      ++sum;
    }
  }
  CHECK_EQ(sum, 100);
}

static void body(void) {
  const long members = omp_get_max_threads();
  count();
  if (check_where == CHECK_SERIAL) {
    CHECK_EQ(unnamed_counter, 200 * members);
    CHECK_EQ(first_counter, 200 * members);
    CHECK_EQ(second_counter, 200 * members);
    CHECK_EQ(hinted_counter, 200 * members);
  }
  nested_names();
  region_inside();
  between_tasks();
}

int main(void) {
  const int status = check_run(body);
  const long expected = (200 + 5 * 25) * (long)omp_get_max_threads();
  CHECK_EQ(unnamed_counter, expected);
  CHECK_EQ(first_counter, expected);
  CHECK_EQ(second_counter, expected);
  CHECK_EQ(hinted_counter, expected);
  return status | check_finish();
}
