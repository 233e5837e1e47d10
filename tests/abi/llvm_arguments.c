/* Regions with every number of captured variables from 0 to 12, and with many: the runtime passes them on. */
#include "check.h"

static void none(void) {
#pragma omp parallel num_threads(3)
  check_work(10);
}

#define REGION(name, declarations, sum, expected)    \
  static void name(void) {                           \
    int wrong = 0;                                   \
    declarations;                                    \
    _Pragma("omp parallel num_threads(4)") {         \
      if ((sum) != (expected)) check_add(&wrong, 1); \
    }                                                \
    CHECK_EQ(wrong, 0);                              \
  }

/* Volatile, so that no variable is replaced by its value. */
#define V volatile long
REGION(one, , 0, 0)
REGION(two, V a = 1, a, 1)
REGION(three, V a = 1; V b = 2, a + 10 * b, 21)
REGION(four, V a = 1; V b = 2; V c = 3, a + 10 * b + 100 * c, 321)
REGION(five, V a = 1; V b = 2; V c = 3; V d = 4, a + 10 * b + 100 * c + 1000 * d, 4321)
REGION(six, V a = 1; V b = 2; V c = 3; V d = 4; V e = 5, a + 10 * b + 100 * c + 1000 * d + 10000 * e, 54321)
REGION(seven, V a = 1; V b = 2; V c = 3; V d = 4; V e = 5;
       V f = 6, a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f, 654321)
REGION(twelve, V a = 1; V b = 2; V c = 3; V d = 4; V e = 5; V f = 6; V g = 7; V h = 8; V i = 9; V j = 1;
       V k = 2,
       a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g + 10000000 * h + 100000000 * i +
           1000000000 * j + 10000000000 * k,
       21987654321)

/* A value of 16 bytes and an array of variable length among them, which the callee finds on an aligned stack. */
static void aligned(void) {
  volatile long a = 1, b = 2, c = 3, d = 4, e = 5;
  long double wide = 1.25L;
  const int n = 5 + (int)a;
  int values[n];
  int wrong = 0;
  for (int i = 0; i < n; ++i) values[i] = i;
#pragma omp parallel num_threads(3) firstprivate(wide)
  {
    _Alignas(32) char mine[32];
    mine[0] = (char)values[n - 1];
    if (wide != 1.25L || mine[0] != n - 1 || a + b + c + d + e != 15) check_add(&wrong, 1);
    if (((size_t)&wide | (size_t)mine) % 16 != 0) check_add(&wrong, 1);
  }
  CHECK_EQ(wrong, 0);
}

static void body(void) {
  none();
  one();
  two();
  three();
  four();
  five();
  six();
  seven();
  twelve();
  aligned();
}

CHECK_MAIN(body)
