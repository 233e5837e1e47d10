/* The harness of the ABI tests, for C and C++.
 *
 * A test defines `static void body(void)` and ends with CHECK_MAIN(body) or CHECK_MAIN_FLAT(body). CHECK_MAIN calls
 * the body three ways: from the serial part, by every member of a region of 3, and from explicit tasks. A body must
 * therefore keep its state in automatic variables and open its own regions. A failed check prints file, line and
 * values; the exit status is 1 if any check failed. */
#ifndef WEFT_TESTS_ABI_CHECK_H
#define WEFT_TESTS_ABI_CHECK_H

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__GNUC__)
#define CHECK_MAYBE_UNUSED __attribute__((unused))
#endif

enum check_context { CHECK_SERIAL, CHECK_NESTED, CHECK_IN_TASK };

static int check_failures;
static enum check_context check_where = CHECK_SERIAL;

CHECK_MAYBE_UNUSED static void check_fail(const char* file, int line, const char* what) {
  if (__atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED) < 20)
    fprintf(stderr, "%s:%d: %s (context %d, OMP_NUM_THREADS %s)\n", file, line, what, (int)check_where,
            getenv("OMP_NUM_THREADS"));
}

CHECK_MAYBE_UNUSED static void check_fail_values(const char* file, int line, const char* what, long long left,
                                                 long long right) {
  char text[512];
  snprintf(text, sizeof text, "%s: %lld and %lld", what, left, right);
  check_fail(file, line, text);
}

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) check_fail(__FILE__, __LINE__, #condition); \
  } while (0)

#define CHECK_COMPARE(left, op, right)                                                          \
  do {                                                                                          \
    const long long check_left = (long long)(left), check_right = (long long)(right);           \
    if (!(check_left op check_right))                                                           \
      check_fail_values(__FILE__, __LINE__, #left " " #op " " #right, check_left, check_right); \
  } while (0)

#define CHECK_EQ(left, right) CHECK_COMPARE(left, ==, right)
#define CHECK_LE(left, right) CHECK_COMPARE(left, <=, right)
#define CHECK_GE(left, right) CHECK_COMPARE(left, >=, right)

/* Less work where the body runs several times at once. */
#define CHECK_SCALE(n) (check_where == CHECK_SERIAL ? (n) : ((n) + 7) / 8)

/* A counter that several members change. */
CHECK_MAYBE_UNUSED static int check_add(int* counter, int n) {
  return __atomic_add_fetch(counter, n, __ATOMIC_ACQ_REL);
}
CHECK_MAYBE_UNUSED static int check_load(int* counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }
CHECK_MAYBE_UNUSED static void check_store(int* counter, int n) { __atomic_store_n(counter, n, __ATOMIC_RELEASE); }

/* Some work that the compiler keeps and that is no scheduling point. */
CHECK_MAYBE_UNUSED static void check_work(int n) {
  for (int i = 0; i < n; ++i) __asm__ volatile("" : : "r"(i));
}

/* With CHECK_RUNTIME=DIR the OpenMP runtime in this process must come from DIR. */
CHECK_MAYBE_UNUSED static void check_runtime(void) {
  const char* const expected = getenv("CHECK_RUNTIME");
  Dl_info info;
  if (expected == NULL) return;
  if (dladdr(dlsym(RTLD_DEFAULT, "GOMP_parallel"), &info) == 0 ||
      strncmp(info.dli_fname, expected, strlen(expected)) != 0) {
    fprintf(stderr, "the OpenMP runtime is not the one in %s\n", expected);
    exit(1);
  }
}

/* With weft and a sanitizer, members and tasks that wait share thread-local storage with others, and no call goes on on
 * another stack (sanitized.cmake). */
CHECK_MAYBE_UNUSED static int check_sanitized(void) { return getenv("CHECK_SANITIZED") != NULL; }

/* Kernel threads; 0: nobody tells. */
CHECK_MAYBE_UNUSED static int check_threads_of_process(void) {
  char line[256];
  int threads = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "Threads: %d", &threads);
  if (status != NULL) fclose(status);
  return threads;
}

/* For main(), first thing: the runtime reads its environment when it is loaded, so the program starts anew with the
 * variable, unless that is set. */
CHECK_MAYBE_UNUSED static void check_need_variable(const char* name, const char* value, char** argv) {
  if (getenv(name) != NULL) return;
  setenv(name, value, 1);
  execv("/proc/self/exe", argv);
  perror("/proc/self/exe");
  exit(2);
}

CHECK_MAYBE_UNUSED static int check_finish(void) {
  if (check_failures != 0) fprintf(stderr, "%d checks failed\n", check_failures);
  return check_failures != 0;
}

CHECK_MAYBE_UNUSED static int check_run_flat(void (*body)(void)) {
  check_runtime();
  body();
  return check_finish();
}

CHECK_MAYBE_UNUSED static int check_run(void (*body)(void)) {
  check_runtime();
  body();
  omp_set_max_active_levels(omp_get_supported_active_levels());
  check_where = CHECK_NESTED;
#pragma omp parallel num_threads(3)
  {
    CHECK_EQ(omp_get_num_threads(), 3);
    body();
  }
  check_where = CHECK_IN_TASK;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 2; ++i) {
#pragma omp task
    body();
  }
  return check_finish();
}

#define CHECK_MAIN(body) \
  int main(void) { return check_run(body); }
#define CHECK_MAIN_FLAT(body) \
  int main(void) { return check_run_flat(body); }

#endif
