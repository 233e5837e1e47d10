/* taskgroup waits for descendants, not just children; nested groups; a group in each member; taskyield. */
#include "check.h"

static void tree(int depth, int* count) {
  check_add(count, 1);
  if (depth == 0) return;
  for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(count)
    tree(depth - 1, count);
  }
}

static void descendants(void) {
  int count = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task shared(count)
      tree(6, &count);
    }
    CHECK_EQ(check_load(&count), 127);
  }
}

/* Tasks that were created before the group are not waited for: the group ends while one of them is held back. */
static void not_the_earlier_ones(void) {
  int outside = 0, inside = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task shared(outside)
    check_add(&outside, 1);
#pragma omp taskgroup
    {
      for (int i = 0; i < 10; ++i) {
#pragma omp task shared(inside)
        check_add(&inside, 1);
      }
    }
    CHECK_EQ(check_load(&inside), 10);
  }
  CHECK_EQ(outside, 1);
}

static void nested_groups(void) {
  int inner = 0, outer = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 5; ++i) {
#pragma omp task shared(inner, outer)
        {
          int mine = 0;
#pragma omp taskgroup
          {
            for (int k = 0; k < 5; ++k) {
#pragma omp task shared(inner, mine)
              {
                check_add(&inner, 1);
#pragma omp task shared(mine)
                check_add(&mine, 1);
              }
            }
          }
          CHECK_EQ(check_load(&mine), 5);
#pragma omp task shared(outer)
          check_add(&outer, 1);
        }
      }
    }
    CHECK_EQ(check_load(&inner), 25);
    CHECK_EQ(check_load(&outer), 5);
  }
}

static void in_every_member(void) {
#pragma omp parallel
  for (int round = 0; round < 10; ++round) {
    int count = 0;
#pragma omp taskgroup
    {
      tree(3, &count);
#pragma omp taskwait
    }
    CHECK_EQ(check_load(&count), 15);
  }
}

static void empty_and_undeferred(void) {
  int count = 0;
#pragma omp parallel
  {
#pragma omp taskgroup
    {}
#pragma omp taskgroup
    {
#pragma omp task if (0) shared(count)
      {
#pragma omp task shared(count)
        check_add(&count, 1);
      }
    }
  }
  CHECK_EQ(count, omp_get_max_threads());
}

static void yielding(void) {
  int done = 0;
#pragma omp parallel
  {
#pragma omp taskyield
#pragma omp single
    for (int i = 0; i < 50; ++i) {
#pragma omp task shared(done)
      {
        for (int k = 0; k < 5; ++k) {
#pragma omp taskyield
        }
        check_add(&done, 1);
      }
    }
  }
  CHECK_EQ(done, 50);
#pragma omp taskyield
}

/* Groups with dependences inside. */
static void with_dependences(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 10; ++round) {
#pragma omp taskgroup
    {
      for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : value) shared(value)
        value++;
      }
    }
    CHECK_EQ(value, (round + 1) * 10);
  }
}

static void body(void) {
  descendants();
  not_the_earlier_ones();
  nested_groups();
  in_every_member();
  empty_and_undeferred();
  yielding();
  with_dependences();
}

CHECK_MAIN(body)
