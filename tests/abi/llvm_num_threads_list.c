/* num_threads with a list (OpenMP 6.0), by the entry points that a compiler calls for it: the first number is for the
 * region, the others are for those within it. */
#include <stdint.h>

#include "check.h"

void __kmpc_push_num_threads_list(void* place, int32_t thread, uint32_t count, const int32_t* numbers);
void __kmpc_push_num_threads_list_strict(void* place, int32_t thread, uint32_t count, const int32_t* numbers,
                                         int32_t severity, const char* message);
int32_t __kmpc_global_thread_num(void* place);

static void push(uint32_t count, const int32_t* numbers) {
  __kmpc_push_num_threads_list(NULL, __kmpc_global_thread_num(NULL), count, numbers);
}

/* Regions one within the other: of the list's sizes, and the last one again. */
static void check_levels(uint32_t count, const int32_t* numbers) {
  push(count, numbers);
#pragma omp parallel
  {
    CHECK_EQ(omp_get_num_threads(), numbers[0]);
#pragma omp parallel
    {
      CHECK_EQ(omp_get_num_threads(), numbers[1]);
#pragma omp barrier
#pragma omp task if (0)
#pragma omp parallel
      {
        CHECK_EQ(omp_get_num_threads(), numbers[2]);
        CHECK_EQ(omp_get_level(), 3);
      }
    }
  }
}

int main(void) {
  check_runtime();
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  const int before = omp_get_max_threads();
  const int32_t three[] = {3, 2, 4}, two[] = {2, 3};
  for (int turn = 0; turn < 50; ++turn) check_levels(3, three);
  CHECK_EQ(omp_get_max_threads(), before); /* only within */

  push(2, two);
#pragma omp parallel
  {
    CHECK_EQ(omp_get_num_threads(), 2);
    CHECK_EQ(omp_get_max_threads(), 3);
#pragma omp parallel num_threads(2)
    CHECK_EQ(omp_get_num_threads(), 2); /* a clause goes before the list */
    omp_set_num_threads(4);
    CHECK_EQ(omp_get_max_threads(), 4);
#pragma omp parallel
    CHECK_EQ(omp_get_num_threads(), 4);
  }
#pragma omp parallel
  CHECK_EQ(omp_get_num_threads(), before);

  __kmpc_push_num_threads_list_strict(NULL, __kmpc_global_thread_num(NULL), 2, two, 1, "a list");
#pragma omp parallel
  {
    CHECK_EQ(omp_get_num_threads(), 2);
#pragma omp parallel
    CHECK_EQ(omp_get_num_threads(), 3);
  }
  return check_finish();
}
