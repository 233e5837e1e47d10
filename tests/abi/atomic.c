/* atomic: read, write, update, capture on every type; types that are too large go through GOMP_atomic_start. */
#include "check.h"

enum { ROUNDS = 100 };

#define UPDATE(type)                                                                               \
  do {                                                                                             \
    type value = 0;                                                                                \
    _Pragma("omp parallel") for (int i = 0; i < ROUNDS; ++i) { _Pragma("omp atomic") value += 1; } \
    CHECK(value == (type)((long)ROUNDS * omp_get_max_threads()));                                  \
  } while (0)

static void every_type(void) {
  UPDATE(unsigned char);
  UPDATE(short);
  UPDATE(int);
  UPDATE(unsigned long);
  UPDATE(long long);
  UPDATE(float);
  UPDATE(double);
  UPDATE(long double); /* 16 bytes: the fallback, for want of cmpxchg16b in the baseline */
  UPDATE(__int128);
}

static void operators(void) {
  int product = 1, xored = 0, ored = 0, anded = -1, shifted = 1, minus = 1000;
  double halved = 1024;
#pragma omp parallel num_threads(4)
  {
#pragma omp atomic
    product *= 3;
#pragma omp atomic update
    xored ^= 1 << omp_get_thread_num();
#pragma omp atomic
    ored |= 16 << omp_get_thread_num();
#pragma omp atomic
    anded &= ~(1 << omp_get_thread_num());
#pragma omp atomic
    shifted <<= 2;
#pragma omp atomic
    minus = minus - 5;
#pragma omp atomic
    halved /= 2;
#pragma omp atomic
    minus--;
  }
  CHECK_EQ(product, 81);
  CHECK_EQ(xored, 15);
  CHECK_EQ(ored, 240);
  CHECK_EQ(anded, ~15);
  CHECK_EQ(shifted, 256);
  CHECK_EQ(minus, 976);
  CHECK(halved == 64);
}

static void capture(void) {
  const int members = omp_get_max_threads(), total = members * ROUNDS;
  int next = 0;
  long double wide = 0;
  char *seen = (char*)calloc((size_t)total, 1), *seen_wide = (char*)calloc((size_t)total, 1);
#pragma omp parallel
  for (int i = 0; i < ROUNDS; ++i) {
    int ticket;
    long double wide_ticket;
#pragma omp atomic capture
    ticket = next++;
    seen[ticket]++;
#pragma omp atomic capture
    {
      wide_ticket = wide;
      wide += 1;
    }
    seen_wide[(int)wide_ticket]++;
  }
  for (int i = 0; i < total; ++i) {
    CHECK_EQ(seen[i], 1);
    CHECK_EQ(seen_wide[i], 1);
  }
  free(seen);
  free(seen_wide);
}

/* Reads see whole values that were written, never halves of two. */
static void read_and_write(void) {
  long double wide = 0;
  __int128 pair = 0;
  long word = 0;
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 300; ++i) {
    const int mine = omp_get_thread_num() * 1000 + i;
    long double read_wide;
    __int128 read_pair;
    long read_word;
    if (omp_get_thread_num() % 2 == 0) {
#pragma omp atomic write
      wide = mine + mine / 4096.0L;
#pragma omp atomic write
      pair = (__int128)mine << 64 | mine;
#pragma omp atomic write seq_cst
      word = (long)mine << 32 | mine;
    } else {
#pragma omp atomic read
      read_wide = wide;
#pragma omp atomic read
      read_pair = pair;
#pragma omp atomic read acquire
      read_word = word;
      const int whole = (int)(read_wide / (1 + 1 / 4096.0L) + 0.5L);
      CHECK(read_wide == whole + whole / 4096.0L);
      CHECK_EQ((long)(read_pair >> 64), (long)read_pair);
      CHECK_EQ(read_word >> 32, read_word & 0xffffffff);
    }
  }
}

static void compare(void) {
  int most = -1, swapped = 0;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
#pragma omp atomic compare
    if (most < me) {
      most = me;
    }
#pragma omp atomic compare
    if (swapped == 0) {
      swapped = 1;
    }
  }
  CHECK_EQ(most, omp_get_max_threads() - 1);
  CHECK_EQ(swapped, 1);
}

static void body(void) {
  every_type();
  operators();
  capture();
  read_and_write();
  compare();
}

CHECK_MAIN(body)
