/* Data-sharing clauses of parallel: shared, private, firstprivate, default, and large firstprivate objects. */
#include "check.h"

typedef struct {
  double values[500];
  int tag;
} big;

static void shared_and_private(void) {
  int shared_counter = 0, scratch = -1, first = 17;
  int array[8] = {1, 2, 3, 4, 5, 6, 7, 8};
#pragma omp parallel num_threads(6) default(none) \
    shared(shared_counter, stderr, check_failures, check_where) private(scratch) firstprivate(first, array)
  {
    scratch = omp_get_thread_num();
    CHECK_EQ(first, 17);
    first += scratch;
    for (int i = 0; i < 8; ++i) {
      CHECK_EQ(array[i], i + 1);
      array[i] += scratch;
    }
#pragma omp barrier
    CHECK_EQ(scratch, omp_get_thread_num());
    CHECK_EQ(first, 17 + scratch);
    for (int i = 0; i < 8; ++i) CHECK_EQ(array[i], i + 1 + scratch);
#pragma omp atomic
    shared_counter += scratch;
  }
  CHECK_EQ(shared_counter, 15);
  CHECK_EQ(scratch, -1);
  CHECK_EQ(first, 17);
  CHECK_EQ(array[3], 4);
}

static void large_firstprivate(void) {
  big object;
  for (int i = 0; i < 500; ++i) object.values[i] = i;
  object.tag = 9;
#pragma omp parallel num_threads(8) firstprivate(object)
  {
    for (int i = 0; i < 500; ++i) CHECK(object.values[i] == i);
    CHECK_EQ(object.tag, 9);
    memset(&object, omp_get_thread_num(), sizeof object);
  }
  CHECK_EQ(object.tag, 9);
  CHECK(object.values[499] == 499);
}

static void variable_length_arrays(int n) {
  int shared_array[n], copied[n];
  for (int i = 0; i < n; ++i) shared_array[i] = 0, copied[i] = i * 3;
#pragma omp parallel num_threads(n) firstprivate(copied)
  {
    const int me = omp_get_thread_num();
    for (int i = 0; i < n; ++i) CHECK_EQ(copied[i], i * 3);
    copied[me] = -1;
    shared_array[me] = me + 1;
  }
  for (int i = 0; i < n; ++i) {
    CHECK_EQ(shared_array[i], i + 1);
    CHECK_EQ(copied[i], i * 3);
  }
}

static void members_have_their_own_stack(void) {
  int* address[12] = {0};
#pragma omp parallel num_threads(12)
  {
    int local = omp_get_thread_num();
    address[local] = &local;
#pragma omp barrier
    for (int i = 0; i < 12; ++i) {
      CHECK_EQ(*address[i], i);
      CHECK(i == local || address[i] != &local);
    }
#pragma omp barrier
    CHECK_EQ(local, omp_get_thread_num());
  }
}

static void body(void) {
  shared_and_private();
  large_firstprivate();
  variable_length_arrays(10);
  members_have_their_own_stack();
}

CHECK_MAIN(body)
