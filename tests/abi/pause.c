/* omp_pause_resource: the threads go, those that hold threadprivate variables only with a hard pause; everything comes
 * anew with the next region. Not inside a region. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static int own;
#pragma omp threadprivate(own)

/* Threads that end do so a little later. */
static int threads_left(int at_most, int milliseconds) {
  for (int again = 0; again < milliseconds && check_threads_of_process() > at_most; ++again) usleep(1000);
  return check_threads_of_process();
}

/* Each thread marks its own variable; how many had that mark already. */
static int region(int mark) {
  int kept = 0;
#pragma omp parallel num_threads(8) reduction(+ : kept)
  {
    CHECK_EQ(omp_get_num_threads(), 8);
    kept += own == mark;
#pragma omp barrier
    own = mark;
#pragma omp task
    check_work(1000);
#pragma omp barrier
  }
  return kept;
}

/* libgomp ends these threads with a soft pause too. */
static void soft(void) {
  const int all = getenv("CHECK_RUNTIME") != NULL ? 8 : 1;
  region(1);
  for (int again = 0; again < 20; ++again) {
    CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device()), 0);
    const int kept = region(1);
    if (!check_sanitized()) CHECK_EQ(kept, all);
  }
}

static void hard(void) {
  for (int again = 2; again < 20; ++again) {
    region(again);
    const int before = check_threads_of_process();
    CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
    if (check_sanitized()) continue;
    /* The master, and a watching thread of the runtime's. That may just have started one more. */
    int left = threads_left(2, 1000);
    if (left > 2) {
      CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
      left = threads_left(2, 20000);
    }
    CHECK_LE(left, 2);
    CHECK_GE(before, left + 1);
  }
}

static void not_inside(void) {
  int refused = 0;
#pragma omp parallel num_threads(2) reduction(+ : refused)
  refused += omp_pause_resource_all(omp_pause_soft) != 0;
#pragma omp parallel num_threads(1) reduction(+ : refused)
  refused += omp_pause_resource_all(omp_pause_hard) != 0;
  CHECK_EQ(refused, 3);
  CHECK(omp_pause_resource(omp_pause_soft, omp_get_num_devices() + 5) != 0);
  if (getenv("CHECK_RUNTIME") != NULL) CHECK(omp_pause_resource_all((omp_pause_resource_t)77) != 0);
}

static void* other_thread(void* unused) {
  for (int again = 0; again < 50; ++again) {
    region(1);
    CHECK_EQ(omp_pause_resource_all(again % 2 != 0 ? omp_pause_hard : omp_pause_soft), 0);
  }
  return unused;
}

/* Two threads of the program, each with its own regions and pauses. */
static void side_by_side(void) {
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, other_thread, NULL), 0);
  other_thread(NULL);
  pthread_join(other, NULL);
}

static void body(void) {
  not_inside();
  soft();
  hard();
  side_by_side();
  hard();
}

CHECK_MAIN_FLAT(body)
