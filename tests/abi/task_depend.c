/* depend: in, out, inout, mutexinoutset, array sections, iterators; chains, fans, wavefronts; taskwait with depend. */
#include "check.h"

static void chain(void) {
  int value = 0, wrong = 0;
  const int length = CHECK_SCALE(300);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < length; ++i) {
#pragma omp task depend(inout : value) shared(value, wrong)
    {
      if (value != i) wrong++;
      value = i + 1;
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, length);
}

/* One writer, many readers, one writer, over and over. */
static void fan(void) {
  int value = 0, wrong = 0, readers = 0;
#pragma omp parallel
#pragma omp single
  for (int round = 1; round <= 20; ++round) {
#pragma omp task depend(out : value) shared(value, readers, wrong)
    {
      if (check_load(&readers) != (round - 1) * 10) check_add(&wrong, 1);
      value = round;
    }
    for (int r = 0; r < 10; ++r) {
#pragma omp task depend(in : value) shared(value, readers, wrong)
      {
        check_work(200);
        if (value != round) check_add(&wrong, 1);
        check_add(&readers, 1);
      }
    }
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(readers, 200);
  CHECK_EQ(value, 20);
}

enum { SIDE = 24 };

static void wavefront(void) {
  int grid[SIDE + 1][SIDE + 1];
  for (int i = 0; i <= SIDE; ++i) grid[i][0] = grid[0][i] = 1;
#pragma omp parallel
#pragma omp single
  for (int i = 1; i <= SIDE; ++i)
    for (int j = 1; j <= SIDE; ++j) {
#pragma omp task depend(in : grid[i - 1][j], grid[i][j - 1]) depend(out : grid[i][j]) shared(grid)
      grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 10007;
    }
  for (int i = 1; i <= SIDE; ++i)
    for (int j = 1; j <= SIDE; ++j) CHECK_EQ(grid[i][j], (grid[i - 1][j] + grid[i][j - 1]) % 10007);
}

/* A task with depend(in) of several locations, blocked Cholesky's shape without the numbers. */
static void cholesky_shape(void) {
  enum { N = 7 };
  int done[N][N] = {{0}}, wrong = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < N; ++k) {
#pragma omp task depend(inout : done[k][k]) shared(done, wrong)
    {
      if (done[k][k] != k) check_add(&wrong, 1);
      done[k][k]++;
    }
    for (int i = k + 1; i < N; ++i) {
#pragma omp task depend(in : done[k][k]) depend(inout : done[i][k]) shared(done, wrong)
      {
        if (done[k][k] != k + 1 || done[i][k] != k) check_add(&wrong, 1);
        done[i][k]++;
      }
    }
    for (int i = k + 1; i < N; ++i)
      for (int j = k + 1; j <= i; ++j) {
#pragma omp task depend(in : done[i][k], done[j][k]) depend(inout : done[i][j]) shared(done, wrong)
        {
          if (done[i][k] != k + 1 || done[j][k] != k + 1 || done[i][j] != k) check_add(&wrong, 1);
          done[i][j]++;
        }
      }
  }
  CHECK_EQ(wrong, 0);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) CHECK_EQ(done[i][j], j + 1);
}

/* An undeferred task waits for the tasks it depends on. */
static void undeferred(void) {
  int value = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : value) shared(value)
    {
      check_work(100000);
      value = 1;
    }
#pragma omp task if (0) depend(in : value) shared(value)
    CHECK_EQ(value, 1);
#pragma omp task depend(inout : value) shared(value)
    {
      check_work(100000);
      value = 2;
    }
#pragma omp taskwait depend(in : value)
    CHECK_EQ(value, 2);
  }
}

/* Dependences order siblings only. */
static void siblings_only(void) {
  int value = 0, order = 0;
  (void)value; /* only its address matters */
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : value) shared(value, order)
      {
#pragma omp task depend(inout : value) shared(value, order)
          check_add(&order, 1);
#pragma omp task depend(inout : value) shared(value, order)
  check_add(&order, 1);
#pragma omp taskwait
  CHECK_EQ(check_load(&order), 2);
}
#pragma omp taskwait
}
CHECK_EQ(order, 2);
}

/* mutexinoutset: in any order, but not two at once. */
static void mutually_exclusive(void) {
  int value = 0, inside = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : value) shared(value)
    value = 100;
    for (int i = 0; i < 30; ++i) {
#pragma omp task depend(mutexinoutset : value) shared(value, inside, wrong)
      {
        if (check_add(&inside, 1) != 1 || value < 100) check_add(&wrong, 1);
        value++;
        check_add(&inside, -1);
      }
    }
#pragma omp task depend(in : value) shared(value, wrong)
    if (value != 130) check_add(&wrong, 1);
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(value, 130);
}

/* Dependences given by iterator. */
static void iterators(void) {
  int parts[12] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 12; ++i) {
#pragma omp task depend(out : parts[i]) shared(parts)
      {
        check_work(1000);
        parts[i] = i + 1;
      }
    }
#pragma omp task depend(iterator(k = 0 : 12), in : parts[k]) shared(parts, sum)
    for (int i = 0; i < 12; ++i) sum += parts[i];
  }
  CHECK_EQ(sum, 78);
}

/* Dependence objects. */
static void depend_objects(void) {
  int value = 0, wrong = 0;
  omp_depend_t object;
#pragma omp depobj(object) depend(inout : value)
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 50; ++i) {
#pragma omp task depend(depobj : object) shared(value, wrong)
    if (value++ != i) wrong++;
  }
#pragma omp depobj(object) destroy
  CHECK_EQ(value, 50);
  CHECK_EQ(wrong, 0);
}

/* Two independent chains and a join of both, created by every member: only a member's own tasks are siblings. */
static void chains_of_every_member(void) {
#pragma omp parallel
  {
    int left = 0, right = 0, joined = 0;
    for (int i = 0; i < 15; ++i) {
#pragma omp task depend(inout : left) shared(left)
      left++;
#pragma omp task depend(inout : right) shared(right)
      right++;
    }
#pragma omp task depend(in : left, right) depend(out : joined) shared(left, right, joined)
    joined = left + right;
#pragma omp taskwait
    CHECK_EQ(joined, 30);
  }
}

/* Dependent tasks that finish while their successors are still being created. */
static void create_and_finish(void) {
  int cells[8] = {0}, wrong = 0;
  const int rounds = CHECK_SCALE(100);
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < rounds; ++round)
    for (int c = 0; c < 8; ++c) {
#pragma omp task depend(inout : cells[c]) depend(in : cells[(c + 3) % 8]) shared(cells, wrong)
      if (cells[c]++ != round) check_add(&wrong, 1);
    }
  CHECK_EQ(wrong, 0);
  for (int c = 0; c < 8; ++c) CHECK_EQ(cells[c], rounds);
}

static void body(void) {
  chain();
  fan();
  wavefront();
  cholesky_shape();
  undeferred();
  siblings_only();
  mutually_exclusive();
  iterators();
  depend_objects();
  chains_of_every_member();
  create_and_finish();
}

CHECK_MAIN(body)
