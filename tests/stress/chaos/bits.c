#include "bits.h"

#include "random.h"
#include "settings.h"
#include "where.h"

#include <sched.h>
#include <stdatomic.h>

static int critical_count;
static atomic_int critical_expected;

static void compute(int times) {
  volatile unsigned x = 1;
  for (int i = 0; i < times; i++) x = x * 1664525u + 1013904223u;
}

void allocate(uint64_t seed) {
  unsigned char* block[8];
  for (int i = 0; i < 8; i++) {
    const size_t size = 1 + (size_t)below(seed, i, 3000);
    block[i] = malloc(size);
    CHECK(block[i] != NULL, "malloc");
    memset(block[i], i + 1, size);
  }
  for (int i = 0; i < 8; i++) {
    CHECK_EQUAL(block[i][0], i + 1, "first byte of a block");
    free(block[i]);
  }
}

void count_in_critical(void) {
  atomic_fetch_add(&critical_expected, 1);
#pragma omp critical
  critical_count++;
}

void check_critical_count(void) {
  CHECK_EQUAL(critical_count, atomic_load(&critical_expected), "count in critical sections");
}

void do_a_bit(uint64_t seed) {
  const int error = errno;
  const int which = below(seed, 77, 9);
  switch (which < 5 && !(settings.bits >> which & 1) ? 9 : which) {
    case 0:
      compute(below(seed, 78, 5000));
      break;
    case 1:
      allocate(seed);
      break;
    case 2:
      sched_yield();
      break;
    case 3:
      sleep_seconds(1e-6 * (1 + below(seed, 79, 100)));
      break;
    case 4:
      count_in_critical();
      break;
    default:
      break;
  }
  errno = error;
}
