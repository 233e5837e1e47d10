/* final, mergeable, untied, priority, in_final; included tasks run at once on the same thread. */
#include "check.h"

static void final_and_its_descendants(void) {
  int count = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    CHECK_EQ(omp_in_final(), 0);
#pragma omp task final(1) shared(count)
    {
      const int me = omp_get_thread_num();
      int local = 0;
      CHECK_EQ(omp_in_final(), 1);
#pragma omp task shared(local, count)
      {
        CHECK_EQ(omp_in_final(), 1);
        CHECK_EQ(omp_get_thread_num(), me);
        local = 1;
#pragma omp task shared(local, count) untied
        {
          CHECK_EQ(omp_in_final(), 1);
          local = 2;
          check_add(&count, 1);
        }
      }
      CHECK_EQ(local, 2); /* included: done by now, without taskwait */
    }
#pragma omp task final(0) shared(count)
    {
      CHECK_EQ(omp_in_final(), 0);
      check_add(&count, 1);
    }
#pragma omp taskwait
    CHECK_EQ(omp_in_final(), 0);
  }
  CHECK_EQ(count, 2);
}

/* A region inside a final task. */
static void region_in_a_final_task(void) {
  int members = 0;
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(10);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task final(1) shared(members)
  {
#pragma omp parallel num_threads(3)
    check_add(&members, 1);
    CHECK_EQ(omp_in_final(), 1);
  }
  CHECK_EQ(members, 3);
  omp_set_max_active_levels(before);
}

static void mergeable(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task mergeable shared(done)
    check_add(&done, 1);
#pragma omp task mergeable if (0) shared(done)
    check_add(&done, 1);
#pragma omp task mergeable final(1) shared(done)
    check_add(&done, 1);
  }
  CHECK_EQ(done, 60);
}

static void untied(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 40; ++i) {
#pragma omp task untied shared(done)
    {
      int inner = 0;
#pragma omp task untied shared(inner)
      check_add(&inner, 1);
#pragma omp taskyield
#pragma omp taskwait
      CHECK_EQ(inner, 1);
      CHECK(omp_get_thread_num() >= 0 && omp_get_thread_num() < omp_get_num_threads());
      check_add(&done, 1);
    }
  }
  CHECK_EQ(done, 40);
}

/* A priority is a hint: all tasks run, whatever it says. */
static void priority(void) {
  int done = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp task priority(i % 10) shared(done)
    check_add(&done, 1);
  }
  CHECK_EQ(done, 100);
}

static void body(void) {
  final_and_its_descendants();
  region_in_a_final_task();
  mergeable();
  untied();
  priority();
}

CHECK_MAIN(body)
