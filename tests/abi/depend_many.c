/* Dependences in great numbers: long chains, thousands of addresses, thousands of readers, tasks with more predecessors
 * than they name addresses, and all of that within tasks that wait for it. */
#include "check.h"

static void in_chains(int chains, int length) {
  int* at = (int*)calloc((size_t)chains, sizeof(int));
  int out_of_order = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < chains * length; ++i) {
    int* const link = at + i % chains;
    const int number = i / chains;
#pragma omp task depend(inout : link[0]) shared(out_of_order)
    {
      if (*link != number) check_add(&out_of_order, 1);
      *link = number + 1;
    }
  }
  for (int k = 0; k < chains; ++k) CHECK_EQ(at[k], length);
  CHECK_EQ(out_of_order, 0);
  free(at);
}

/* Each value of a row comes from two of the row above. */
static void triangle(int n) {
  int* value = (int*)malloc((size_t)(n * n) * sizeof(int));
#pragma omp parallel
#pragma omp single
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column <= row; ++column) {
      int* const here = value + row * n + column;
      if (column == 0 || column == row) {
#pragma omp task depend(out : here[0])
        *here = 1;
      } else {
#pragma omp task depend(in : here[-n], here[-n - 1]) depend(out : here[0])
        *here = (here[-n] + here[-n - 1]) % 10007;
      }
    }
  }
  for (int row = 2; row < n; ++row) {
    for (int column = 1; column < row; ++column) {
      const int* const here = value + row * n + column;
      CHECK_EQ(*here, (here[-n] + here[-n - 1]) % 10007);
    }
  }
  free(value);
}

/* Readers come and go for as long as the address is not written. */
static void readers_between_writers(int rounds, int readers) {
  int value = 0, wrong = 0, read = 0, seen_by_writers = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int round = 0; round < rounds; ++round) {
#pragma omp task depend(out : value) shared(value, read, seen_by_writers)
      {
        seen_by_writers += check_load(&read) == round * readers;
        ++value;
      }
      for (int i = 0; i < readers; ++i) {
#pragma omp task depend(in : value) shared(value, wrong, read)
        {
          if (value != round + 1) check_add(&wrong, 1);
          check_add(&read, 1);
        }
      }
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, rounds);
  CHECK_EQ(seen_by_writers, rounds);
  CHECK_EQ(check_load(&read), rounds * readers);
}

static void below_tasks(int tasks, int length) {
  int wrong = 0;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < tasks; ++t) {
#pragma omp task shared(wrong)
    {
      int steps = 0;
      for (int i = 0; i < length; ++i) {
#pragma omp task depend(inout : steps) shared(steps)
        {
          check_work(20);
          ++steps;
        }
      }
#pragma omp taskwait
      if (steps != length) check_add(&wrong, 1);
    }
  }
  CHECK_EQ(wrong, 0);
}

/* A lock that both the creator and its tasks take, one after the other. */
static void with_a_lock(int n) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  int sum = 0, link = 0;
  (void)link; /* only its address matters */
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < n; ++i) {
#pragma omp task depend(inout : link) shared(sum, lock)
    {
      omp_set_lock(&lock);
      ++sum;
      omp_unset_lock(&lock);
    }
    omp_set_lock(&lock);
    ++sum;
    omp_unset_lock(&lock);
  }
  CHECK_EQ(sum, 2 * n);
  CHECK_EQ(link, 0);
  omp_destroy_lock(&lock);
}

static void body(void) {
  in_chains(1, CHECK_SCALE(4000));
  in_chains(2, CHECK_SCALE(4000));
  in_chains(CHECK_SCALE(1000), 3);
  triangle(CHECK_SCALE(80));
  readers_between_writers(4, CHECK_SCALE(1500));
  readers_between_writers(CHECK_SCALE(300), 1);
  below_tasks(CHECK_SCALE(8), 600);
  with_a_lock(CHECK_SCALE(1000));
}

CHECK_MAIN(body)
