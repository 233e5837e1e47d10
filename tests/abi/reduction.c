/* Reductions: every operator and type, arrays, array sections, on parallel, loops and sections; user-defined ones. */
#include <complex.h>
#include <stdbool.h>

#include "check.h"

#define SUM_OF(type)                                                                             \
  do {                                                                                           \
    type sum = 1;                                                                                \
    _Pragma("omp parallel for reduction(+ : sum)") for (int i = 1; i <= 15; ++i) sum += (type)i; \
    CHECK(sum == (type)121);                                                                     \
  } while (0)

static void sum_of_every_type(void) {
  SUM_OF(signed char);
  SUM_OF(unsigned char);
  SUM_OF(short);
  SUM_OF(int);
  SUM_OF(unsigned);
  SUM_OF(long);
  SUM_OF(long long);
  SUM_OF(unsigned long long);
  SUM_OF(float);
  SUM_OF(double);
  SUM_OF(long double);
  SUM_OF(__int128);
  SUM_OF(double complex);
}

static void integer_operators(int n) {
  int sum = 3, difference = 1000, bits_and = -1, bits_or = 0, bits_xor = 5, all = 1, any = 0, least = 9999,
      most = -9999;
  long long product = 1;
  int expected_xor = 5;
  for (int i = 0; i < n; ++i) expected_xor ^= i;
#pragma omp parallel for reduction(+ : sum) reduction(- : difference) reduction(& : bits_and) reduction(| : bits_or) \
    reduction(^ : bits_xor) reduction(&& : all) reduction(|| : any) reduction(min : least) reduction(max : most)    \
    reduction(* : product) schedule(dynamic, 3)
  for (int i = 0; i < n; ++i) {
    sum += i;
    difference -= 1;
    bits_and &= ~(1 << i % 8);
    bits_or |= 1 << i % 12;
    bits_xor ^= i;
    all = all && i >= 0;
    any = any || i == n - 1;
    if (i - 7 < least) least = i - 7;
    if (i + 7 > most) most = i + 7;
    product *= i % 10 == 1 ? 2 : 1;
  }
  CHECK_EQ(sum, 3 + n * (n - 1) / 2);
  CHECK_EQ(difference, 1000 - n);
  CHECK_EQ(bits_and, ~0xff);
  CHECK_EQ(bits_or, 0xfff);
  CHECK_EQ(bits_xor, expected_xor);
  CHECK_EQ(all, 1);
  CHECK_EQ(any, 1);
  CHECK_EQ(least, -7);
  CHECK_EQ(most, n + 6);
  CHECK_EQ(product, 1ll << (n + 8) / 10);
}

static void on_parallel(void) {
  const int members = omp_get_max_threads();
  int sum = 10, most = -1;
  double product = 1;
#pragma omp parallel reduction(+ : sum) reduction(max : most) reduction(* : product)
  {
    CHECK_EQ(sum, 0);
    CHECK(product == 1);
    sum += omp_get_thread_num();
    most = omp_get_thread_num();
    product = omp_get_thread_num() < 10 ? 2 : 1;
  }
  CHECK_EQ(sum, 10 + members * (members - 1) / 2);
  CHECK_EQ(most, members - 1);
  CHECK(product == (double)(1 << (members < 10 ? members : 10)));
}

static void arrays(int n) {
  int histogram[16] = {0};
  double* section = (double*)calloc(20, sizeof(double));
  long variable[n];
  for (int i = 0; i < n; ++i) variable[i] = i;
#pragma omp parallel for reduction(+ : histogram, variable) reduction(+ : section [2:10])
  for (int i = 0; i < 1600; ++i) {
    histogram[i % 16] += 1;
    section[2 + i % 10] += 1;
    variable[i % n] += 1;
  }
  for (int i = 0; i < 16; ++i) CHECK_EQ(histogram[i], 100);
  for (int i = 0; i < 20; ++i) CHECK(section[i] == (i >= 2 && i < 12 ? 160 : 0));
  for (int i = 0; i < n; ++i) CHECK_EQ(variable[i], i + 1600 / n + (i < 1600 % n));
  free(section);
}

typedef struct {
  double sum;
  int count;
} average;

static void combine(average* out, const average* in) {
  out->sum += in->sum;
  out->count += in->count;
}

#pragma omp declare reduction(mean:average : combine(&omp_out, &omp_in)) initializer(omp_priv = {0, 0})
#pragma omp declare reduction(longest:int \
                              : omp_out = omp_in > omp_out ? omp_in : omp_out) initializer(omp_priv = omp_orig)

static void user_defined(int n) {
  average a = {0.5, 1};
  int most = 40;
#pragma omp parallel for reduction(mean : a) schedule(guided)
  for (int i = 0; i < n; ++i) {
    a.sum += i;
    a.count += 1;
  }
  CHECK_EQ(a.count, n + 1);
  CHECK(a.sum == 0.5 + (double)n * (n - 1) / 2);
#pragma omp parallel for reduction(longest : most)
  for (int i = 0; i < n; ++i)
    if (i * 3 > most) most = i * 3;
  CHECK_EQ(most, 3 * (n - 1) > 40 ? 3 * (n - 1) : 40);
}

static void nowait_inside_a_region(int n) {
  int first = 0, second = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : first) nowait
    for (int i = 0; i < n; ++i) first += 1;
#pragma omp for reduction(+ : second)
    for (int i = 0; i < n; ++i) second += 2;
    CHECK_EQ(first, n);
    CHECK_EQ(second, 2 * n);
#pragma omp barrier
#pragma omp for reduction(+ : first)
    for (int i = 0; i < n; ++i) first += 1;
    CHECK_EQ(first, 2 * n);
  }
}

static void nested(void) {
  int sum = 0;
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(10);
#pragma omp parallel num_threads(3) reduction(+ : sum)
  {
    int inner = 0;
#pragma omp parallel num_threads(4) reduction(+ : inner)
    inner += omp_get_thread_num() + 1;
    sum += inner;
  }
  CHECK_EQ(sum, 30);
  omp_set_max_active_levels(before);
}

static void body(void) {
  sum_of_every_type();
  for (int n = 20; n < 200; n += 77) {
    integer_operators(n);
    arrays(n);
    user_defined(n);
    nowait_inside_a_region(n);
  }
  on_parallel();
  nested();
}

CHECK_MAIN(body)
