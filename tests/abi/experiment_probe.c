/* Prints what the optimisations that WEFT_EXPERIMENT switches off do, one NAME=VALUE per line, for experiment_test.py:
 * order, the members of a region of one worker in the order in which they ran; allocations, calls of malloc(3) and the
 * like in 100 regions; teams, those that a second thread allocates for three nested regions; elsewhere, whether a
 * member was ever run by the thread whose place is another one. */
#include <pthread.h>

#include "check.h"

void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static int allocations;

void* malloc(size_t size) {
  check_add(&allocations, 1);
  return __libc_malloc(size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
  check_add(&allocations, 1);
  *memory = __libc_memalign(alignment, size);
  return *memory == NULL;
}

static void order(void) {
  int numbers[8], ran = 0;
#pragma omp parallel num_threads(8)
  numbers[check_add(&ran, 1) - 1] = omp_get_thread_num();
  printf("order=");
  for (int i = 0; i < ran; ++i) printf("%d", numbers[i]);
  puts("");
}

static void hundred_regions(void) {
  int members = 0;
  const int before = check_load(&allocations);
  for (int i = 0; i < 100; ++i) {
#pragma omp parallel num_threads(8)
    check_add(&members, 1);
  }
  printf("allocations=%d\n", check_load(&allocations) - before);
  CHECK_EQ(members, 800);
}

/* Of one member each: they have a team and nothing else. */
static void nest(int depth) {
  if (depth == 0) return;
#pragma omp parallel num_threads(1)
  nest(depth - 1);
}

static void* second_thread(void* unused) {
  nest(1);
  const int before = check_load(&allocations);
  nest(4);
  printf("teams=%d\n", check_load(&allocations) - before);
  return unused;
}

static void teams(void) {
  pthread_t thread;
  nest(8);
  CHECK_EQ(pthread_create(&thread, NULL, second_thread, NULL), 0);
  pthread_join(thread, NULL);
}

static void elsewhere(int regions) {
  const int here = gettid();
  int seen = 0;
  const double deadline = omp_get_wtime() + 60;
  for (int i = 0; i < regions && !seen && omp_get_wtime() < deadline; ++i) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1 && gettid() == here) seen = 1;
  }
  printf("elsewhere=%d\n", seen);
}

int main(int argc, char** argv) {
  check_runtime();
  if (omp_get_num_places() == 2) {
    elsewhere(argc > 1 ? atoi(argv[1]) : 1);
    return check_finish();
  }
  order();
  hundred_regions();
  teams();
  return check_finish();
}
