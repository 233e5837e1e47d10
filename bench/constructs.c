// The overhead of parallel regions, loops and synchronisation, after EPCC's suite (overhead.h). Keys: threads, kind=
//   parallel, for, parallel_for, barrier, single    once per repeat
//   critical, lock, atomic                          all threads together once per repeat
//   ordered                                         one iteration of a loop dealt round robin
//   reduction                                       a region with a reduction of one int
//   reduction_array                                 the same of 1,000 doubles
//   reduction_sleep                                 the same of what takes a sleep of 0.1 ms to add: additions go on at
//                                                   once on as many workers as there are, on however few CPUs
#include "overhead.h"

#include <unistd.h>

static omp_lock_t a_lock;
static bool sums_wrong;

static void test_parallel(void) {
  for (int j = 0; j < repeats; j++) {
#pragma omp parallel
    delay();
  }
}

static void test_for(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
#pragma omp for
    for (int i = 0; i < threads; i++) delay();
  }
}

static void test_parallel_for(void) {
  for (int j = 0; j < repeats; j++) {
#pragma omp parallel for
    for (int i = 0; i < threads; i++) delay();
  }
}

static void test_barrier(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
    delay();
#pragma omp barrier
  }
}

static void test_single(void) {
#pragma omp parallel
  for (int j = 0; j < repeats; j++) {
#pragma omp single
    delay();
  }
}

static void test_critical(void) {
#pragma omp parallel
  for (int j = 0; j < repeats / threads; j++) {
#pragma omp critical
    delay();
  }
}

static void test_lock(void) {
#pragma omp parallel
  for (int j = 0; j < repeats / threads; j++) {
    omp_set_lock(&a_lock);
    delay();
    omp_unset_lock(&a_lock);
  }
}

// schedule(static, 1) says who gets which iteration. LLVM's runtime deals code of GCC's in blocks (its chunk is not
// looked at), so that nearly every turn passes to the thread that has it: that is another loop, and no measure of this.
static void test_ordered(void) {
#pragma omp parallel for ordered schedule(static, 1)
  for (int j = 0; j < repeats; j++) {
#pragma omp ordered
    if (!counts_delays || omp_get_thread_num() == j % threads) delay();
  }
}

static long shared_out(void) { return (long)(repeats / threads) * threads; }

// --- atomic: the reference adds too, in a variable of its own

static const double GROWTH = 1.0 + 1e-15;
static double total;

static void additions_alone(void) {
  volatile double sum = 0;
  double each = 1;
  for (int j = 0; j < repeats; j++) {
    sum += each;
    each *= GROWTH;
  }
}

static void test_atomic(void) {
  total = 0;
#pragma omp parallel
  {
    double each = 1;
    for (int j = 0; j < repeats / threads; j++) {
#pragma omp atomic
      total += each;
      each *= GROWTH;
    }
  }
  const double expected = (double)shared_out();
  if (total < expected * (1 - 1e-9) || total > expected * (1 + 1e-9)) sums_wrong = true;
}

// --- reduction

static void test_reduction(void) {
  for (int j = 0; j < repeats; j++) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      delay();
      sum += 1;
    }
    if (sum != threads) sums_wrong = true;
  }
}

enum { ARRAY_LENGTH = 1000 };

static void test_reduction_array(void) {
  static double sums[ARRAY_LENGTH];
  sums[ARRAY_LENGTH - 1] = 0;
  for (int j = 0; j < repeats; j++) {
#pragma omp parallel reduction(+ : sums)
    {
      delay();
      sums[ARRAY_LENGTH - 1] += 1;
    }
  }
  if (sums[ARRAY_LENGTH - 1] != (double)one_per_thread()) sums_wrong = true;
}

typedef struct {
  int count;
} SleepySum;

static void add_sleepily(SleepySum* to, const SleepySum* from) {
  usleep(100);
  to->count += from->count;
}

#pragma omp declare reduction(sleepily:SleepySum : add_sleepily(&omp_out, &omp_in)) initializer(omp_priv = {0})

static void test_reduction_sleep(void) {
  for (int j = 0; j < repeats; j++) {
    SleepySum sum = {0};
#pragma omp parallel reduction(sleepily : sum)
    {
      delay();
      sum.count += 1;
    }
    if (sum.count != threads) sums_wrong = true;
  }
}

int main(int argc, char** argv) {
  static const char* const configs[] = {"kind=parallel", "kind=for",       "kind=parallel_for",   "kind=barrier",
                                        "kind=single",   "kind=critical",  "kind=lock",           "kind=ordered",
                                        "kind=atomic",   "kind=reduction", "kind=reduction_array"};
  static const Construct constructs[] = {
      {"parallel", test_parallel, delays_alone, one_per_thread},
      {"for", test_for, delays_alone, one_per_thread},
      {"parallel_for", test_parallel_for, delays_alone, one_per_thread},
      {"barrier", test_barrier, delays_alone, one_per_thread},
      {"single", test_single, delays_alone, one_each},
      {"critical", test_critical, delays_alone, shared_out},
      {"lock", test_lock, delays_alone, shared_out},
      {"ordered", test_ordered, delays_alone, one_each},
      {"atomic", test_atomic, additions_alone, NULL},
      {"reduction", test_reduction, delays_alone, one_per_thread},
      {"reduction_array", test_reduction_array, delays_alone, one_per_thread},
      {"reduction_sleep", test_reduction_sleep, delays_alone, one_per_thread},
  };
  omp_init_lock(&a_lock);
  MEASURE_CONSTRUCTS(argc, argv, "constructs", configs, constructs);
  omp_destroy_lock(&a_lock);
  if (sums_wrong) fail("a sum is wrong");
  return 0;
}
