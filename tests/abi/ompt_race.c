/* For ThreadSanitizer with LLVM's Archer: with -DRACE all members change a variable, without it nothing races. */
#include <omp.h>
#include <stdio.h>

static int fibonacci(int n) {
  int x, y;
  if (n < 2) return n;
#pragma omp task shared(x)
  x = fibonacci(n - 1);
#pragma omp task shared(y)
  y = fibonacci(n - 2);
#pragma omp taskwait
  return x + y;
}

int main(void) {
  int list[64] = {0}, sum = 0, counted = 0, locked = 0, flow = 0, found = 0, racy = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_max_active_levels(2);
  for (int repeat = 0; repeat < 3; ++repeat) {
#pragma omp parallel num_threads(4)
    {
      int own[64]; /* where another member had its own */
      for (int i = 0; i < 64; ++i) own[i] = i;
#ifdef RACE
      ++racy;
#endif
#pragma omp for
      for (int i = 0; i < 64; ++i) list[i] += own[i];
#pragma omp for reduction(+ : sum) schedule(dynamic)
      for (int i = 0; i < 64; ++i) sum += list[63 - i];
#pragma omp critical
      ++counted;
      omp_set_lock(&lock);
      ++locked;
      omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
      {
#pragma omp task depend(out : flow) shared(flow)
        flow = 1;
#pragma omp task depend(inout : flow) shared(flow)
        ++flow;
#pragma omp taskwait
        found += flow + fibonacci(7);
      }
#pragma omp parallel num_threads(2) shared(own)
      {
        int inner[16];
        for (int i = 0; i < 16; ++i) inner[i] = own[i];
#pragma omp for
        for (int i = 0; i < 64; ++i) own[i] += inner[i % 16];
      }
    }
  }
  omp_destroy_lock(&lock);
  const int right = sum == 6 * 63 * 32 && counted == 12 && locked == 12 && found == 45 && racy >= 0;
  puts(right ? "fine" : "wrong");
  return !right;
}
