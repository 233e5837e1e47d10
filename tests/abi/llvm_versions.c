/* GCC's entry points as GCC's code asks for them that was linked with -lomp or -liomp5: under LLVM's version. */
#include <dlfcn.h>

#include "check.h"

static void count(void* data) { check_add(data, 1); }

static void body(void) {
  static const char* const names[] = {
      "GOMP_barrier",       "GOMP_critical_start",  "GOMP_loop_ull_nonmonotonic_dynamic_next",
      "GOMP_single_start",  "GOMP_sections2_start", "GOMP_parallel_loop_maybe_nonmonotonic_runtime",
      "GOMP_taskloop_ull",  "GOMP_doacross_post",   "GOMP_workshare_task_reduction_unregister",
      "GOMP_taskwait",      "GOMP_parallel_start",  "GOMP_teams_reg",
      "omp_get_thread_num", "omp_get_num_threads_"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; ++i) CHECK(dlvsym(RTLD_DEFAULT, names[i], "VERSION") != NULL);

  void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = NULL;
  void* found = dlvsym(RTLD_DEFAULT, "GOMP_parallel", "VERSION");
  CHECK(found != NULL);
  *(void**)&parallel = found;
  int rounds = 0;
  for (int round = 0; round < 20; ++round) {
    int members = 0;
    parallel(count, &members, 3, 0);
    rounds += members >= 1 && members <= 3;
  }
  CHECK_EQ(rounds, 20);
}

CHECK_MAIN(body)
