/* A league whose regions and members a tool can count (ompt_test.py). */
#include "check.h"

int main(void) {
  int inner = 0, tasks = 0;
#pragma omp teams num_teams(3) thread_limit(2) /* 1 region, 3 members; LLVM's compilers: 3 regions, 3 members more */
#pragma omp parallel num_threads(2)            /* 3 regions, 6 members */
  {
    check_add(&inner, omp_get_num_teams());
#pragma omp task /* 6 tasks */
    check_add(&tasks, 1);
  }
  CHECK_EQ(inner, 18);
  CHECK_EQ(tasks, 6);
  return check_failures != 0;
}
