// In how many ways n queens stand on a board of n x n without attacking each other; a task for each queen that is
// placed. Rows that are left are counted by the task; the numbers of solutions are added up by who waits.
#include "task_program.h"

enum { MOST_QUEENS = 14 };

static int size;
static long solutions;

// Bits of the columns that are taken, and of those that the diagonals reach in this row.
static long place(int row, unsigned columns, unsigned left, unsigned right) {
  if (row == size) return 1;
  long found[MOST_QUEENS];
  int tried = 0;
  for (unsigned open = ((1u << size) - 1) & ~(columns | left | right); open != 0; open &= open - 1) {
    const unsigned here = open & -open;
    long* const count = &found[tried++];
#pragma omp task firstprivate(count, row, columns, left, right, here)
    *count = place(row + 1, columns | here, (left | here) << 1, (right | here) >> 1);
  }
#pragma omp taskwait
  long sum = 0;
  for (int i = 0; i < tried; i++) sum += found[i];
  return sum;
}

static void prepare(int n) {
  if (n > MOST_QUEENS) fail("n: at most %d", MOST_QUEENS);
  size = n;
}

static void solve(void) { solutions = place(0, 0, 0, 0); }

static bool is_right(void) {
  static const long known[MOST_QUEENS + 1] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
  return solutions == known[size];
}

int main(int argc, char** argv) {
  const TaskProgram program = {"task_queens", 11, prepare, solve, is_right};
  return run_task_program(argc, argv, &program);
}
