/* The locks of version OMP_1.0 (gcc 4.3 and older): a simple lock is an int, a nestable one two ints that belong to a
 * thread, not to a task. Programs that old ask for these versions of the symbols. */
#include "check.h"

typedef void (*on_lock)(void*);
typedef int (*test_lock)(void*);

static void* old(const char* name) {
  void* const symbol = dlvsym(RTLD_DEFAULT, name, "OMP_1.0");
  if (symbol == NULL) {
    fprintf(stderr, "no %s@OMP_1.0\n", name);
    exit(1);
  }
  return symbol;
}

static void simple(void) {
  struct {
    int lock, canary;
  } memory = {0, 0x5a5a5a5a};
  int sum = 0;
  ((on_lock)old("omp_init_lock"))(&memory.lock);
  CHECK_EQ(((test_lock)old("omp_test_lock"))(&memory.lock), 1);
  CHECK_EQ(((test_lock)old("omp_test_lock"))(&memory.lock), 0);
  ((on_lock)old("omp_unset_lock"))(&memory.lock);
#pragma omp parallel
  for (int i = 0; i < 50; ++i) {
    ((on_lock)old("omp_set_lock"))(&memory.lock);
    ++sum;
    ((on_lock)old("omp_unset_lock"))(&memory.lock);
  }
  ((on_lock)old("omp_destroy_lock"))(&memory.lock);
  CHECK_EQ(sum, 50 * omp_get_max_threads());
  CHECK_EQ(memory.canary, 0x5a5a5a5a);
}

static void nestable(void) {
  struct {
    int lock[2], canary;
  } memory = {{0, 0}, 0x5a5a5a5a};
  int sum = 0;
  ((on_lock)old("omp_init_nest_lock"))(memory.lock);
#pragma omp parallel
  for (int i = 0; i < 50; ++i) {
    ((on_lock)old("omp_set_nest_lock"))(memory.lock);
    ((on_lock)old("omp_set_nest_lock"))(memory.lock);
    CHECK_EQ(((test_lock)old("omp_test_nest_lock"))(memory.lock), 3);
    ++sum;
    for (int k = 0; k < 3; ++k) ((on_lock)old("omp_unset_nest_lock"))(memory.lock);
  }
  CHECK_EQ(sum, 50 * omp_get_max_threads());
  CHECK_EQ(memory.canary, 0x5a5a5a5a);
  ((on_lock)old("omp_destroy_nest_lock"))(memory.lock);
}

static void body(void) {
  simple();
  nestable();
}

CHECK_MAIN(body)
