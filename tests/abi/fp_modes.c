/* The modes of floating-point arithmetic (rounding, denormals) belong to a thread: members begin with those of who
 * opens the region, and what they change themselves concerns nobody else. */
#include <stdint.h>
#include <xmmintrin.h>

#include "check.h"

enum { nearest = 0, downward = 1, upward = 2, members = 5, rounds = 40 };
enum { flush_to_zero = 0x8000, modes_of_mxcsr = 0xffc0, division_by_zero = 4 };

static unsigned modes(void) { return _mm_getcsr() & modes_of_mxcsr; }

/* As fesetround(), in both units. */
static void set_rounding(unsigned rounding) {
  uint16_t word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  word = (uint16_t)((word & ~0xc00U) | rounding << 10);
  __asm__ volatile("fldcw %0" : : "m"(word));
  _mm_setcsr((_mm_getcsr() & ~0x6000U) | rounding << 13);
}

static unsigned rounding(void) {
  uint16_t word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  const unsigned of_x87 = word >> 10 & 3, of_sse = _mm_getcsr() >> 13 & 3;
  CHECK_EQ(of_x87, of_sse);
  return of_sse;
}

static void one_flushes_denormals(void) {
  const unsigned before = modes();
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(members)
    {
      CHECK_EQ(modes(), before);
      if (omp_get_thread_num() == 1) _mm_setcsr(_mm_getcsr() | flush_to_zero);
      if (round % 2 == 1) {
#pragma omp barrier
      }
      CHECK_EQ(modes() & flush_to_zero, omp_get_thread_num() == 1 ? flush_to_zero : before & flush_to_zero);
    }
    CHECK_EQ(modes(), before);
  }
}

static void all_flush_denormals(void) {
  const unsigned before = _mm_getcsr();
#pragma omp parallel num_threads(members)
  _mm_setcsr(_mm_getcsr() | flush_to_zero);
  CHECK_EQ(modes() & flush_to_zero, flush_to_zero); /* the opener is one of them */
#pragma omp parallel num_threads(members)
  CHECK_EQ(modes() & flush_to_zero, flush_to_zero);
  _mm_setcsr(before);
}

static void members_round_as_who_opens(void) {
  const unsigned before = rounding();
  for (int round = 0; round < rounds; ++round) {
    const unsigned chosen = round % 3 == 0 ? upward : round % 3 == 1 ? downward : nearest;
    set_rounding(chosen);
#pragma omp parallel num_threads(members)
    {
      CHECK_EQ(rounding(), chosen);
#pragma omp barrier
      CHECK_EQ(rounding(), chosen);
      if (omp_get_thread_num() != 0) set_rounding(upward);
    }
    CHECK_EQ(rounding(), chosen);
  }
  set_rounding(before);
}

/* Threads of the runtime's that are started meanwhile do not keep it. */
static void one_rounds_up_while_it_opens_another(void) {
  const unsigned before = rounding();
#pragma omp parallel num_threads(members)
  {
    set_rounding(upward);
#pragma omp parallel num_threads(members)
    CHECK_EQ(rounding(), upward);
    set_rounding(before);
  }
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(members)
    CHECK_EQ(rounding(), before);
  }
}

static void exceptions_are_their_own(void) {
  _mm_setcsr(_mm_getcsr() & ~0x3fU);
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel num_threads(members)
    if (omp_get_thread_num() == members - 1) {
      double value = 1;
      unsigned word; /* in one: the compiler may else look before the division */
      __asm__ volatile("divsd %2, %0\n\tstmxcsr %1" : "+x"(value), "=m"(word) : "x"(0.0));
      CHECK_EQ(word & division_by_zero, division_by_zero);
    }
    CHECK_EQ(_mm_getcsr() & division_by_zero, 0);
  }
}

static void body(void) {
  one_flushes_denormals();
  all_flush_denormals();
  members_round_as_who_opens();
  one_rounds_up_while_it_opens_another();
  exceptions_are_their_own();
}

CHECK_MAIN(body)
