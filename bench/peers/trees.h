// The patterns as the C++ libraries run them: each gives functions that solve a whole fib, a whole queens, a whole
// fork-join of empty tasks. The program's name says which is measured: PATTERN-LIBRARY.
#ifndef WEFT_BENCH_PEERS_TREES_H
#define WEFT_BENCH_PEERS_TREES_H

#include "native.h"

enum { MAX_QUEENS = 14 };

struct Board {
  int n = 0, row = 0;
  long solutions = 0, units = 0;
  signed char column[MAX_QUEENS] = {};

  [[nodiscard]] bool fits(int candidate) const {
    for (int i = 0; i < row; i++) {
      const int apart = row - i, aside = candidate - column[i];
      if (aside == 0 || aside == apart || aside == -apart) return false;
    }
    return true;
  }

  [[nodiscard]] Board with(int candidate) const {
    Board next = *this;
    next.column[next.row++] = static_cast<signed char>(candidate);
    return next;
  }

  void add(const Board* next, int count) {
    for (int i = 0; i < count; i++) {
      solutions += next[i].solutions;
      units += next[i].units + 1;
    }
  }
};

struct Trees {
  long (*fib)(int n);
  Board (*queens)(int n);
  void (*fork_join)(int n);
};

namespace trees {

inline Trees functions;
inline const char* pattern;
inline int n;
inline volatile long sink;

inline void run_fib(void*) { sink = functions.fib(n); }
inline void run_queens(void*) { sink = functions.queens(n).solutions; }
inline void run_fork_join(void*) { functions.fork_join(n); }

inline long fib_of(int index) {
  long a = 0, b = 1;
  for (int i = 0; i < index; i++) {
    const long next = a + b;
    a = b;
    b = next;
  }
  return a;
}

inline void run(void* argument) {
  const auto* native = static_cast<const NativeRun*>(argument);
  n = config_count(native->config, "n", 10);
  const double start = now_ns();
  void (*body)(void*) = run_fork_join;
  double operations = n;
  bool ok = true;
  if (strcmp(pattern, "fib") == 0) {
    body = run_fib;
    operations = static_cast<double>(fib_of(n + 1) - 1);
    ok = functions.fib(n) == fib_of(n);
  } else if (strcmp(pattern, "queens") == 0) {
    static const long solutions[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};
    const Board board = functions.queens(n);
    body = run_queens;
    operations = static_cast<double>(board.units);
    ok = board.solutions == solutions[n];
  } else {
    functions.fork_join(n);
  }
  const Samples samples = measure(native->options, now_ns() - start, body, nullptr);
  print_native(pattern, native->config, operations, &samples, ok);
}

}  // namespace trees

inline int run_trees(int argc, char** argv, const Trees& functions) {
  static const char* const configs[] = {"n=10"};
  const char* slash = strrchr(argv[0], '/');
  char* name = strdup(slash ? slash + 1 : argv[0]);
  name[strcspn(name, "-")] = '\0';
  trees::pattern = name;
  trees::functions = functions;
  const Options options = PARSE_OPTIONS(argc, argv, configs);
  return run_native(&options, trees::run);
}

#endif
