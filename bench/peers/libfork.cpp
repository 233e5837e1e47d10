// fib and queens with libfork. Which of them it is, the program's name says.
#define PEER_HEADER "peers/libfork.h"
#include "peers/trees.h"

namespace {

inline constexpr auto fib = [](auto self, int n) -> lf::task<long> {
  if (n < 2) co_return n;
  long left, right;
  co_await lf::fork(&left, self)(n - 1);
  co_await lf::call(&right, self)(n - 2);
  co_await lf::join;
  co_return left + right;
};

inline constexpr auto place = [](auto self, Board* board) -> lf::task<void> {
  if (board->row == board->n) {
    board->solutions = 1;
    co_return;
  }
  Board next[MAX_QUEENS];
  int count = 0;
  for (int column = 0; column < board->n; column++) {
    if (!board->fits(column)) continue;
    next[count] = board->with(column);
    co_await lf::fork(self)(&next[count++]);
  }
  co_await lf::join;
  board->add(next, count);
};

long solve_fib(int n) { return lf::sync_wait(*peer_pool, fib, n); }

Board solve_queens(int n) {
  Board board = {n};
  lf::sync_wait(*peer_pool, place, &board);
  return board;
}

}  // namespace

int main(int argc, char** argv) { return run_trees(argc, argv, {solve_fib, solve_queens, nullptr}); }
