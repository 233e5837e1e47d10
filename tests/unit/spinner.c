/* Code of a program that knows nothing of weft, in a library of its own: only such code is left in the middle. */
#include <stdatomic.h>

void spin_until(const atomic_int* value, int wanted, const atomic_int* given_up) {
  while (atomic_load_explicit(value, memory_order_relaxed) < wanted &&
         !atomic_load_explicit(given_up, memory_order_relaxed)) {
  }
}

/* The same, with something in the floating-point registers all the while. Returns how often the sum was wrong. */
int compute_until(const atomic_int* value, int wanted, const atomic_int* given_up, double seed) {
  int wrong = 0;
  while (atomic_load_explicit(value, memory_order_relaxed) < wanted &&
         !atomic_load_explicit(given_up, memory_order_relaxed)) {
    double a = seed, b = seed * 2, c = seed * 3, d = seed * 4;
    for (int step = 0; step < 1000; ++step) {
      a += 1;
      b += 2;
      c += 3;
      d += 4;
    }
    if (a != seed + 1000 || b != seed * 2 + 2000 || c != seed * 3 + 3000 || d != seed * 4 + 4000) ++wrong;
  }
  return wrong;
}
