// Merge sort of n numbers. Halves are sorted by tasks, and merged by tasks too: the larger run is cut in its middle,
// the other one where that element belongs.
#include "task_program.h"

enum { SORT_ALONE = 512, MERGE_ALONE = 1024 };

static size_t size;
static uint32_t *shuffled, *numbers, *scratch;

static void insertion_sort(uint32_t* a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    const uint32_t one = a[i];
    size_t j = i;
    for (; j > 0 && a[j - 1] > one; j--) a[j] = a[j - 1];
    a[j] = one;
  }
}

static void merge_alone(const uint32_t* a, size_t na, const uint32_t* b, size_t nb, uint32_t* to) {
  while (na != 0 && nb != 0) {
    if (*b < *a) {
      *to++ = *b++;
      nb--;
    } else {
      *to++ = *a++;
      na--;
    }
  }
  memcpy(to, na != 0 ? a : b, (na + nb) * sizeof *to);
}

// How many of b are less than `one`.
static size_t less_than(uint32_t one, const uint32_t* b, size_t nb) {
  size_t low = 0;
  while (nb != 0) {
    const size_t half = nb / 2;
    if (b[low + half] < one) {
      low += half + 1;
      nb -= half + 1;
    } else {
      nb = half;
    }
  }
  return low;
}

static void merge(const uint32_t* a, size_t na, const uint32_t* b, size_t nb, uint32_t* to) {
  if (na + nb <= MERGE_ALONE) {
    merge_alone(a, na, b, nb, to);
    return;
  }
  if (na < nb) {
    merge(b, nb, a, na, to);
    return;
  }
  const size_t middle = na / 2, cut = less_than(a[middle], b, nb);
#pragma omp task
  merge(a, middle, b, cut, to);
#pragma omp task
  merge(a + middle, na - middle, b + cut, nb - cut, to + middle + cut);
#pragma omp taskwait
}

static void sort_alone(uint32_t* a, size_t n, uint32_t* other) {
  enum { SHORT = 16 };
  if (n <= SHORT) {
    insertion_sort(a, n);
    return;
  }
  const size_t half = n / 2;
  sort_alone(a, half, other);
  sort_alone(a + half, n - half, other + half);
  memcpy(other, a, n * sizeof *a);
  merge_alone(other, half, other + half, n - half, a);
}

static void sort(uint32_t* a, size_t n, uint32_t* other) {
  if (n <= SORT_ALONE) {
    sort_alone(a, n, other);
    return;
  }
  const size_t quarter = n / 4;
#pragma omp task
  sort(a, quarter, other);
#pragma omp task
  sort(a + quarter, quarter, other + quarter);
#pragma omp task
  sort(a + 2 * quarter, quarter, other + 2 * quarter);
#pragma omp task
  sort(a + 3 * quarter, n - 3 * quarter, other + 3 * quarter);
#pragma omp taskwait
#pragma omp task
  merge(a, quarter, a + quarter, quarter, other);
#pragma omp task
  merge(a + 2 * quarter, quarter, a + 3 * quarter, n - 3 * quarter, other + 2 * quarter);
#pragma omp taskwait
  merge(other, 2 * quarter, other + 2 * quarter, n - 2 * quarter, a);
}

static void prepare(int n) {
  size = (size_t)n;
  shuffled = allocate(size * sizeof *shuffled);
  numbers = allocate(size * sizeof *numbers);
  scratch = allocate(size * sizeof *scratch);
  for (size_t i = 0; i < size; i++) shuffled[i] = (uint32_t)i;
  uint64_t x = 88172645463325252u;
  for (size_t i = size; i-- > 1;) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    const size_t j = (size_t)(x >> 33) % (i + 1);
    const uint32_t one = shuffled[i];
    shuffled[i] = shuffled[j];
    shuffled[j] = one;
  }
}

static void solve(void) {
  memcpy(numbers, shuffled, size * sizeof *numbers);
  sort(numbers, size, scratch);
}

static bool is_right(void) {
  for (size_t i = 0; i < size; i++) {
    if (numbers[i] != i) return false;
  }
  return true;
}

int main(int argc, char** argv) {
  const TaskProgram program = {"task_sort", 400000, prepare, solve, is_right};
  return run_task_program(argc, argv, &program);
}
