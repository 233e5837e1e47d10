/* Reductions whose parts come together while others are still being added: arrays, several variables, large structures,
 * additions that take long, so that all members meet there; loops with nowait, where members are in different
 * reductions, or in different rounds of the same; nested regions. */
#include "check.h"

enum { LENGTH = 300, ROUNDS = 12 };

static void arrays_and_scalars(int rounds) {
  const int members = omp_get_max_threads();
  for (int round = 0; round < rounds; ++round) {
    double sums[LENGTH] = {0};
    int count = round, most = -1;
    long bits = 0;
#pragma omp parallel reduction(+ : sums, count) reduction(max : most) reduction(| : bits)
    {
      const int number = omp_get_thread_num();
      for (int i = 0; i < LENGTH; ++i) sums[i] = i + number;
      count += 1;
      most = number;
      bits = 1l << number % 64;
    }
    CHECK_EQ(count, round + members);
    CHECK_EQ(most, members - 1);
    CHECK_EQ(bits, members >= 64 ? -1l : (1l << members) - 1);
    int wrong = 0;
    for (int i = 0; i < LENGTH; ++i) wrong += sums[i] != i * (double)members + members * (members - 1) / 2.0;
    CHECK_EQ(wrong, 0);
  }
}

/* Whose parts a sum has, how often each, and who they are; larger than what fits into registers. */
typedef struct {
  int times[64];
  int parts, least, most;
} roll;

static void join(roll* into, const roll* from) {
  for (int i = 0; i < 64; ++i) into->times[i] += from->times[i];
  into->parts += from->parts;
  if (from->least < into->least) into->least = from->least;
  if (from->most > into->most) into->most = from->most;
}

static void join_slowly(roll* into, const roll* from) {
  usleep(50);
  join(into, from);
}

#define EMPTY_ROLL ((roll){.parts = 0, .least = 1000, .most = -1})
#pragma omp declare reduction(join:roll : join(&omp_out, &omp_in)) initializer(omp_priv = EMPTY_ROLL)
#pragma omp declare reduction(join_slowly:roll : join_slowly(&omp_out, &omp_in)) initializer(omp_priv = EMPTY_ROLL)

static void sign(roll* mine) {
  const int number = omp_get_thread_num();
  mine->times[number % 64] += 1;
  mine->parts += 1;
  if (number < mine->least) mine->least = number;
  if (number > mine->most) mine->most = number;
}

static void check_roll(const roll* all, int members, int times) {
  int wrong = 0;
  CHECK_EQ(all->parts, members * times);
  CHECK_EQ(all->least, 0);
  CHECK_EQ(all->most, members - 1);
  if (members <= 64)
    for (int i = 0; i < 64; ++i) wrong += all->times[i] != (i < members ? times : 0);
  CHECK_EQ(wrong, 0);
}

static void structures(int rounds) {
  const int members = omp_get_max_threads();
  for (int round = 0; round < rounds; ++round) {
    roll quick = EMPTY_ROLL, slow = EMPTY_ROLL;
#pragma omp parallel reduction(join : quick)
    sign(&quick);
    check_roll(&quick, members, 1);
#pragma omp parallel reduction(join_slowly : slow)
    sign(&slow);
    check_roll(&slow, members, 1);
  }
}

/* A barrier follows: the sum is there for every member, and is written anew only in the next round. */
static void with_barriers(int rounds) {
  const int members = omp_get_max_threads();
  roll all = EMPTY_ROLL;
  int sum = 0;
#pragma omp parallel
  for (int round = 1; round <= rounds; ++round) {
#pragma omp for reduction(join : all) reduction(+ : sum) schedule(static, 1)
    for (int i = 0; i < members; ++i) {
      sign(&all);
      sum += 1;
    }
    CHECK_EQ(all.parts, members * round);
    CHECK_EQ(sum, members * round);
#pragma omp barrier
  }
  check_roll(&all, members, rounds);
}

/* The same loop again and again, each time with another variable; members do not wait for each other. */
static void rounds_without_barriers(void) {
  const int members = omp_get_max_threads();
  roll all[ROUNDS];
  long sums[ROUNDS][2];
  for (int round = 0; round < ROUNDS; ++round) {
    all[round] = EMPTY_ROLL;
    sums[round][0] = sums[round][1] = 0;
  }
#pragma omp parallel
  for (int round = 0; round < ROUNDS; ++round) {
    roll* const part = &all[round];
    long* const sum = sums[round];
#pragma omp for reduction(join_slowly : part[:1]) schedule(static, 1) nowait
    for (int i = 0; i < members; ++i) sign(part);
#pragma omp for reduction(+ : sum[:2]) schedule(static, 1) nowait
    for (int i = 0; i < members; ++i) {
      sum[0] += round;
      sum[1] += 1;
    }
  }
  for (int round = 0; round < ROUNDS; ++round) {
    check_roll(&all[round], members, 1);
    CHECK_EQ(sums[round][0], (long)members * round);
    CHECK_EQ(sums[round][1], members);
  }
}

static void nested(void) {
  const int before = omp_get_max_active_levels();
  roll outer = EMPTY_ROLL;
  omp_set_max_active_levels(10);
#pragma omp parallel num_threads(4) reduction(join_slowly : outer)
  {
    roll inner = EMPTY_ROLL;
#pragma omp parallel num_threads(3) reduction(join_slowly : inner)
    sign(&inner);
    check_roll(&inner, 3, 1);
    sign(&outer);
  }
  check_roll(&outer, 4, 1);
  omp_set_max_active_levels(before);
}

static void sections(void) {
  int count = 0;
  double values[LENGTH] = {0};
#pragma omp parallel sections reduction(+ : count, values)
  {
    count += 1;
#pragma omp section
    values[1] += 2;
#pragma omp section
    values[LENGTH - 1] += 3;
  }
  CHECK_EQ(count, 1);
  CHECK(values[1] == 2 && values[LENGTH - 1] == 3);
}

static void body(void) {
  arrays_and_scalars(CHECK_SCALE(20));
  structures(CHECK_SCALE(8));
  with_barriers(CHECK_SCALE(16));
  rounds_without_barriers();
  nested();
  sections();
}

CHECK_MAIN(body)
