// LU factorisation without pivoting of a sparse matrix of n x n blocks, some of which are empty; a task for each step
// on a block, with dependences on the blocks that it reads and writes. Blocks that fill up are made when they are first
// written.
#include <math.h>

#include "task_program.h"

enum { SIDE = 24, MOST_BLOCKS = 100 };

typedef double Block[SIDE][SIDE];

static int blocks;
static Block* original[MOST_BLOCKS][MOST_BLOCKS];
static Block* matrix[MOST_BLOCKS][MOST_BLOCKS];
static Block* expected[MOST_BLOCKS][MOST_BLOCKS];

static bool is_filled(int i, int j) {
  if (i == j || i == j + 1 || j == i + 1) return true;
  return (i % 2 == 0 || j % 3 == 0) && (i + j) % 4 != 1;
}

static void factorise(Block d) {
  for (int k = 0; k < SIDE; k++)
    for (int i = k + 1; i < SIDE; i++) {
      d[i][k] /= d[k][k];
      for (int j = k + 1; j < SIDE; j++) d[i][j] -= d[i][k] * d[k][j];
    }
}

// row = L^-1 row
static void solve_lower(Block d, Block row) {
  for (int k = 0; k < SIDE; k++)
    for (int i = k + 1; i < SIDE; i++)
      for (int j = 0; j < SIDE; j++) row[i][j] -= d[i][k] * row[k][j];
}

// column = column U^-1
static void solve_upper(Block d, Block column) {
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++) {
      column[i][k] /= d[k][k];
      for (int j = k + 1; j < SIDE; j++) column[i][j] -= column[i][k] * d[k][j];
    }
}

static void update(Block to, Block column, Block row) {
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++)
      for (int j = 0; j < SIDE; j++) to[i][j] -= column[i][k] * row[k][j];
}

static Block* empty_block(void) {
  Block* const block = allocate(sizeof(Block));
  memset(block, 0, sizeof(Block));
  return block;
}

static void factorise_by_tasks(void) {
  for (int k = 0; k < blocks; k++) {
    Block* const d = matrix[k][k];
#pragma omp task depend(inout : d[0])
    factorise(*d);
    for (int j = k + 1; j < blocks; j++) {
      Block* const row = matrix[k][j];
      if (!row) continue;
#pragma omp task depend(in : d[0]) depend(inout : row[0])
      solve_lower(*d, *row);
    }
    for (int i = k + 1; i < blocks; i++) {
      Block* const column = matrix[i][k];
      if (!column) continue;
#pragma omp task depend(in : d[0]) depend(inout : column[0])
      solve_upper(*d, *column);
    }
    for (int i = k + 1; i < blocks; i++)
      for (int j = k + 1; j < blocks; j++) {
        Block *const column = matrix[i][k], *const row = matrix[k][j];
        if (!column || !row) continue;
        if (!matrix[i][j]) matrix[i][j] = empty_block();
        Block* const to = matrix[i][j];
#pragma omp task depend(in : column[0], row[0]) depend(inout : to[0])
        update(*to, *column, *row);
      }
  }
}

static void factorise_alone(void) {
  for (int k = 0; k < blocks; k++) {
    factorise(*expected[k][k]);
    for (int j = k + 1; j < blocks; j++)
      if (expected[k][j]) solve_lower(*expected[k][k], *expected[k][j]);
    for (int i = k + 1; i < blocks; i++)
      if (expected[i][k]) solve_upper(*expected[k][k], *expected[i][k]);
    for (int i = k + 1; i < blocks; i++)
      for (int j = k + 1; j < blocks; j++) {
        if (!expected[i][k] || !expected[k][j]) continue;
        if (!expected[i][j]) expected[i][j] = empty_block();
        update(*expected[i][j], *expected[i][k], *expected[k][j]);
      }
  }
}

// Blocks that have filled up stay, as zeros.
static void copy_original(Block* to[MOST_BLOCKS][MOST_BLOCKS]) {
  for (int i = 0; i < blocks; i++)
    for (int j = 0; j < blocks; j++) {
      if (!to[i][j] && original[i][j]) to[i][j] = empty_block();
      if (!to[i][j]) continue;
      if (original[i][j])
        memcpy(to[i][j], original[i][j], sizeof(Block));
      else
        memset(to[i][j], 0, sizeof(Block));
    }
}

static void prepare(int n) {
  if (n > MOST_BLOCKS) fail("n: at most %d", MOST_BLOCKS);
  blocks = n;
  uint64_t x = 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (!is_filled(i, j)) continue;
      original[i][j] = empty_block();
      for (int k = 0; k < SIDE * SIDE; k++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        (*original[i][j])[k / SIDE][k % SIDE] = (double)(x >> 40) / (double)(1 << 24) - 0.5;
      }
      for (int k = 0; k < SIDE && i == j; k++) (*original[i][j])[k][k] += (double)(2 * SIDE * n);
    }
  copy_original(expected);
  factorise_alone();
}

static void solve(void) {
  copy_original(matrix);
  factorise_by_tasks();
}

static bool is_right(void) {
  for (int i = 0; i < blocks; i++)
    for (int j = 0; j < blocks; j++) {
      if (!matrix[i][j] != !expected[i][j]) return false;
      for (int k = 0; matrix[i][j] && k < SIDE * SIDE; k++) {
        const double a = (*matrix[i][j])[k / SIDE][k % SIDE], b = (*expected[i][j])[k / SIDE][k % SIDE];
        if (!(fabs(a - b) <= 1e-9 * (1 + fabs(b)))) return false;
      }
    }
  return true;
}

int main(int argc, char** argv) {
  const TaskProgram program = {"task_sparselu", 24, prepare, solve, is_right};
  return run_task_program(argc, argv, &program);
}
