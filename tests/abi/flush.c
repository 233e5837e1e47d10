/* flush: the hand-over of data through an atomic flag. The waiting member yields, since members may share a CPU. */
#include "check.h"

static void hand_over(void) {
  int data = 0, flag = 0;
#pragma omp parallel num_threads(2)
  for (int i = 1; i <= 50; ++i) {
    if (omp_get_thread_num() == 0) {
      data = i;
#pragma omp flush(data)
#pragma omp atomic write
      flag = i;
#pragma omp flush
    } else {
      int seen = 0;
      while (seen < i) {
#pragma omp taskyield
#pragma omp flush
#pragma omp atomic read
        seen = flag;
      }
#pragma omp flush acquire
      CHECK_EQ(data, i);
    }
#pragma omp barrier
  }
}

static void flavours(void) {
  int x = 1;
#pragma omp parallel num_threads(3) shared(x)
  {
#pragma omp flush
#pragma omp flush(x)
#pragma omp flush release
#pragma omp flush acq_rel
    CHECK_EQ(x, 1);
  }
}

static void body(void) {
  hand_over();
  flavours();
}

CHECK_MAIN(body)
