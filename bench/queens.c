// All placements of n queens, one unit for each queen that can be placed, joined by the unit that created it. Keys: n.
// A sample is divided by the number of units.
#include "native.h"

enum { MAX_QUEENS = 14 };

typedef struct {
  int n, row;
  long solutions, units;  // found in this subtree
  signed char column[MAX_QUEENS];
} Board;

static bool fits(const Board* board, int column) {
  for (int row = 0; row < board->row; row++) {
    const int apart = board->row - row, aside = column - board->column[row];
    if (aside == 0 || aside == apart || aside == -apart) return false;
  }
  return true;
}

static PeerResult place(void* argument) {
  Board* board = (Board*)argument;
  if (board->row == board->n) {
    board->solutions = 1;
    PEER_END;
  }
  Board next[MAX_QUEENS];
  Unit units[MAX_QUEENS];
  int count = 0;
  for (int column = 0; column < board->n; column++) {
    if (!fits(board, column)) continue;
    next[count] = *board;
    next[count].column[board->row] = (signed char)column;
    next[count].row++;
    peer_create(&units[count], place, &next[count]);
    count++;
  }
  for (int i = 0; i < count; i++) {
    peer_join(&units[i]);
    board->solutions += next[i].solutions;
    board->units += next[i].units + 1;
  }
  PEER_END;
}

static void run_queens(void* argument) {
  Board* root = (Board*)argument;
  root->solutions = root->units = 0;
  (void)place(root);
}

static void run(void* argument) {
  static const long solutions[MAX_QUEENS + 1] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
  const NativeRun* native = (const NativeRun*)argument;
  Board root = {config_int(native->config, "n", 10), 0, 0, 0, {0}};
  if (root.n < 1 || root.n > MAX_QUEENS) fail("n: 1 to %d", MAX_QUEENS);
  const double start = now_ns();
  run_queens(&root);
  const bool ok = root.solutions == solutions[root.n];
  const Samples samples = measure(native->options, now_ns() - start, run_queens, &root);
  print_native("queens", native->config, (double)root.units, &samples, ok);
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"n=10", "n=11"};
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, run);
}
