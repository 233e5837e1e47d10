// fib, queens, techniques (d=0) and producer with oneTBB's task groups. Which of them it is, the program's name says.
#define PEER_HEADER "peers/tbb.h"
#include "peers/trees.h"

namespace {

long fib(int n) {
  if (n < 2) return n;
  long left = 0;
  tbb::task_group group;
  group.run([&left, n] { left = fib(n - 1); });
  const long right = fib(n - 2);
  group.wait();
  return left + right;
}

void place(Board& board) {
  if (board.row == board.n) {
    board.solutions = 1;
    return;
  }
  Board next[MAX_QUEENS];
  int count = 0;
  tbb::task_group group;
  for (int column = 0; column < board.n; column++) {
    if (!board.fits(column)) continue;
    Board* const child = &next[count++];
    *child = board.with(column);
    group.run([child] { place(*child); });
  }
  group.wait();
  board.add(next, count);
}

void fork_join(int n) {
  tbb::task_group group;
  for (int i = 0; i < n; i++) group.run([] { __asm__ volatile(""); });
  group.wait();
}

long solve_fib(int n) { return fib(n); }

Board solve_queens(int n) {
  Board board = {n};
  place(board);
  return board;
}

}  // namespace

int main(int argc, char** argv) { return run_trees(argc, argv, {solve_fib, solve_queens, fork_join}); }
