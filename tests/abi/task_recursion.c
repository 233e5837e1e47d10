/* Recursive tasks: Fibonacci, n queens, a tree of nested tasks, a long chain of tasks each inside the other. */
#include "check.h"

static int fib(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

static int safe(const char* rows, int column, int row) {
  for (int c = 0; c < column; ++c)
    if (rows[c] == row || abs(rows[c] - row) == column - c) return 0;
  return 1;
}

static void queens(int n, int column, const char* rows, int* solutions) {
  if (column == n) {
    check_add(solutions, 1);
    return;
  }
  for (int row = 0; row < n; ++row) {
    if (!safe(rows, column, row)) continue;
#pragma omp task firstprivate(solutions, row, column, n)
    {
      char mine[16];
      memcpy(mine, rows, (size_t)column);
      mine[column] = (char)row;
      queens(n, column + 1, mine, solutions);
    }
  }
#pragma omp taskwait
}

static void nest(int depth, int* count) {
  check_add(count, 1);
  if (depth == 0) return;
#pragma omp task firstprivate(count)
  nest(depth - 1, count);
  if (depth % 2 == 0) {
#pragma omp taskwait
  }
}

static void sort(int* values, int n, int* scratch) {
  if (n <= 16) {
    for (int i = 1; i < n; ++i)
      for (int k = i; k > 0 && values[k - 1] > values[k]; --k) {
        const int swap = values[k];
        values[k] = values[k - 1];
        values[k - 1] = swap;
      }
    return;
  }
  const int half = n / 2;
#pragma omp task
  sort(values, half, scratch);
#pragma omp task
  sort(values + half, n - half, scratch + half);
#pragma omp taskwait
  for (int i = 0, a = 0, b = half; i < n; ++i)
    scratch[i] = b == n || (a < half && values[a] <= values[b]) ? values[a++] : values[b++];
  memcpy(values, scratch, sizeof(int) * (size_t)n);
}

static void merge_sort(int n) {
  int *values = (int*)malloc(sizeof(int) * (size_t)n), *scratch = (int*)malloc(sizeof(int) * (size_t)n);
  unsigned seed = 12345;
  for (int i = 0; i < n; ++i) values[i] = (int)((seed = seed * 1103515245u + 12345u) >> 8);
#pragma omp parallel
#pragma omp single nowait
  sort(values, n, scratch);
  for (int i = 1; i < n; ++i) CHECK(values[i - 1] <= values[i]);
  free(values);
  free(scratch);
}

static void body(void) {
  int result = 0, solutions = 0, nested = 0;
  const int n = check_where == CHECK_SERIAL ? 17 : 11;
#pragma omp parallel
#pragma omp single
  result = fib(n);
  CHECK_EQ(result, n == 17 ? 1597 : 89);
#pragma omp parallel
#pragma omp single
  queens(7, 0, "", &solutions);
  CHECK_EQ(solutions, 40);
#pragma omp parallel
#pragma omp single
  nest(200, &nested);
  CHECK_EQ(nested, 201);
  merge_sort(CHECK_SCALE(8000));
}

CHECK_MAIN(body)
