/* Prints the ICVs and what they lead to, one NAME=VALUE per line, for env_test.py. With an argument it uses that many
 * bytes of stack in each member of a region and in a task. */
#include <alloca.h>

#include "check.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { LEVELS = 4 };

static void sizes_by_level(int level, int* sizes) {
  if (level == LEVELS) return;
#pragma omp parallel
  {
#pragma omp single nowait
    {
#pragma omp critical(icv_probe)
      if (omp_get_num_threads() > sizes[level]) sizes[level] = omp_get_num_threads();
    }
    sizes_by_level(level + 1, sizes);
  }
}

static __attribute__((noinline)) int use_stack(size_t bytes) {
  volatile char* const room = (volatile char*)alloca(bytes);
  for (size_t i = 0; i < bytes; i += 1024) room[i] = (char)i;
  int sum = 0;
  for (size_t i = 0; i < bytes; i += 1024) sum += room[i] == (char)i;
  return sum == (int)((bytes + 1023) / 1024);
}

static void stack(size_t bytes) {
  int good = 0;
#pragma omp parallel num_threads(3)
  {
    if (omp_get_thread_num() != 0) check_add(&good, use_stack(bytes));
#pragma omp barrier
      /* the master is on the program's own stack, whose size OMP_STACKSIZE does not set */
#pragma omp critical(icv_probe)
    if (omp_get_thread_num() == 1) check_add(&good, use_stack(bytes));
  }
  printf("stack=%d\n", good == 3);
}

/* Which one it is, and what of its traits shows. */
static void allocator(void) {
  const omp_allocator_handle_t handle = omp_get_default_allocator();
  printf("allocator=%ld\n", handle <= omp_thread_mem_alloc ? (long)handle : -1);
  char* block = (char*)omp_alloc(100, omp_null_allocator);
  printf("aligned=%d\n", ((size_t)block & 1023) == 0);
  printf("large=%d\n", omp_alloc(1 << 20, omp_null_allocator) != NULL);
}

int main(int argc, char** argv) {
  omp_sched_t kind;
  int chunk, sizes[LEVELS] = {0}, inner_max = 0;
  check_runtime();
  omp_get_schedule(&kind, &chunk);
  printf("max_threads=%d\n", omp_get_max_threads());
  printf("dynamic=%d\n", omp_get_dynamic());
  printf("nested=%d\n", omp_get_nested());
  printf("max_active_levels=%d\n", omp_get_max_active_levels());
  printf("thread_limit=%d\n", omp_get_thread_limit());
  printf("schedule=%u\n", (unsigned)kind & 0x7fffffffu);
  printf("monotonic=%u\n", (unsigned)kind >> 31);
  printf("chunk=%d\n", chunk);
  printf("max_task_priority=%d\n", omp_get_max_task_priority());
  printf("max_teams=%d\n", omp_get_max_teams());
  printf("teams_thread_limit=%d\n", omp_get_teams_thread_limit());
  printf("default_device=%d\n", omp_get_default_device());
  printf("proc_bind=%d\n", (int)omp_get_proc_bind());
  printf("places=%d\n", omp_get_num_places());
  allocator();
#pragma omp parallel
#pragma omp master
  inner_max = omp_get_max_threads();
  printf("inner_max_threads=%d\n", inner_max);
  sizes_by_level(0, sizes);
  printf("sizes=%d,%d,%d,%d\n", sizes[0], sizes[1], sizes[2], sizes[3]);
  if (argc > 1) stack((size_t)atol(argv[1]));
  return 0;
}
