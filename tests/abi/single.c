/* single: one member runs it; barrier at its end unless nowait; copyprivate. */
#include "check.h"

static void one_member_and_a_barrier(void) {
  int times = 0, value = 0;
  const int rounds = CHECK_SCALE(50);
#pragma omp parallel
  for (int i = 0; i < rounds; ++i) {
#pragma omp single
    {
      check_add(&times, 1);
      value = i;
    }
    CHECK_EQ(value, i);
    CHECK_EQ(check_load(&times), i + 1);
#pragma omp barrier
  }
  CHECK_EQ(times, rounds);
}

static void nowait_chain(void) {
  enum { ROUNDS = 300 };
  int times[ROUNDS] = {0};
#pragma omp parallel
  for (int i = 0; i < ROUNDS; ++i) {
    if (omp_get_thread_num() == 1 && i == 0) check_work(200000);
#pragma omp single nowait
    check_add(&times[i], 1);
  }
  for (int i = 0; i < ROUNDS; ++i) CHECK_EQ(times[i], 1);
}

static void copyprivate(void) {
  const int rounds = CHECK_SCALE(50);
#pragma omp parallel
  for (int round = 0; round < rounds; ++round) {
    int number = -1;
    double numbers[40];
    char* text = NULL;
    for (int i = 0; i < 40; ++i) numbers[i] = -1;
#pragma omp single copyprivate(number, numbers, text)
    {
      number = round * 1000 + omp_get_thread_num();
      for (int i = 0; i < 40; ++i) numbers[i] = round + i;
      text = (char*)malloc(32);
      snprintf(text, 32, "round %d", round);
    }
    CHECK_EQ(number / 1000, round);
    for (int i = 0; i < 40; ++i) CHECK(numbers[i] == round + i);
    CHECK_EQ(atoi(text + 6), round);
#pragma omp barrier
    if (number % 1000 == omp_get_thread_num()) free(text);
  }
}

static void private_and_firstprivate(void) {
  int first = 5, scratch = 1;
#pragma omp parallel
  {
#pragma omp single firstprivate(first) private(scratch)
    {
      CHECK_EQ(first, 5);
      scratch = 3;
      first = scratch;
    }
    CHECK_EQ(first, 5);
    CHECK_EQ(scratch, 1);
  }
}

static void body(void) {
  one_member_and_a_barrier();
  nowait_chain();
  copyprivate();
  private_and_firstprivate();
}

CHECK_MAIN(body)
