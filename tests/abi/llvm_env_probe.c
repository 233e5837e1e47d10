/* What the kmp_ routines say of the settings, and that those that set them do. llvm_env_test.py reads the first line.
 * With COUNT_TASKS set, how many tasks wait before one is run at once, instead; with FIRST_BY_ANOTHER, whether it is
 * too late for some once a thread that has ended has opened a region. */
#include <pthread.h>

#include "check.h"

/* How many tasks thread 0 of two creates before the first one is run: the other thread waits for its own part. */
static int tasks_before_first(void) {
  int created = 0, before = -1, over = 0;
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      for (int i = 0; i < 1000; ++i) {
#pragma omp task shared(created, before)
        if (before < 0) before = created;
        ++created;
      }
#pragma omp taskwait
      check_store(&over, 1);
    } else {
      while (!check_load(&over)) usleep(100);
    }
  }
  return before;
}

static void* open_region(void* unused) {
#pragma omp parallel num_threads(2)
  check_work(1);
  return unused;
}

/* The first region was that of a thread that has ended. */
static void after_another_thread(void) {
  const size_t before = kmp_get_stacksize_s();
  pthread_t thread;
  pthread_create(&thread, NULL, open_region, NULL);
  pthread_join(thread, NULL);
  kmp_set_stacksize_s(before + (5 << 20));
  CHECK_EQ(kmp_get_stacksize_s(), before);
}

int main(void) {
  check_runtime();
  if (getenv("FIRST_BY_ANOTHER") != NULL) {
    after_another_thread();
    puts("fine");
    return check_finish();
  }
  if (getenv("COUNT_TASKS") != NULL) {
    printf("%d\n", tasks_before_first());
    return check_finish();
  }
  printf("%zu %d %d\n", kmp_get_stacksize_s(), kmp_get_blocktime(), kmp_get_library());
  kmp_set_stacksize_s(2 << 20);
  CHECK_EQ(kmp_get_stacksize(), 2 << 20); /* before the first region */
  kmp_set_stacksize_s((size_t)-1);        /* more than any stack can have */
  CHECK_EQ(kmp_get_stacksize(), 2 << 20);
  kmp_set_blocktime(17);
  CHECK_EQ(kmp_get_blocktime(), 17);
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members += 1;
  CHECK_EQ(members, 4);
  kmp_set_stacksize_s(3 << 20); /* too late */
  CHECK_EQ(kmp_get_stacksize(), 2 << 20);
  kmp_set_library_serial();
  CHECK_EQ(kmp_get_library(), 1);
#pragma omp parallel num_threads(4)
  CHECK_EQ(omp_get_num_threads(), 1);
  kmp_set_library_throughput();
#pragma omp parallel num_threads(4)
  CHECK_EQ(omp_get_num_threads(), 4);

  kmp_affinity_mask_t mask, whole;
  kmp_create_affinity_mask(&mask);
  kmp_create_affinity_mask(&whole);
  CHECK_EQ(kmp_get_affinity(&whole), 0);
  int cpu = 0, cpus = 0;
  for (int i = 0; i < kmp_get_affinity_max_proc(); ++i)
    if (kmp_get_affinity_mask_proc(i, &whole) == 1) cpu = i, ++cpus;
  CHECK_GE(cpus, 1);
  CHECK_EQ(kmp_set_affinity_mask_proc(cpu, &mask), 0);
  CHECK_EQ(kmp_get_affinity_mask_proc(cpu, &mask), 1);
  CHECK_EQ(kmp_set_affinity(&mask), 0);
  CHECK_EQ(kmp_unset_affinity_mask_proc(cpu, &mask), 0);
  CHECK_EQ(kmp_get_affinity_mask_proc(cpu, &mask), 0);
  CHECK_EQ(kmp_get_affinity(&mask), 0);
  CHECK_EQ(kmp_get_affinity_mask_proc(cpu, &mask), 1);
  CHECK_EQ(kmp_set_affinity(&whole), 0);
  CHECK(kmp_set_affinity_mask_proc(-1, &mask) != 0);
  kmp_destroy_affinity_mask(&mask);
  kmp_destroy_affinity_mask(&whole);

  char* block = kmp_malloc(10);
  block = kmp_realloc(block, 1000);
  kmp_free(block);
  block = kmp_aligned_malloc(100, 256);
  CHECK_EQ((size_t)block % 256, 0);
  kmp_free(block);
  return check_finish();
}
