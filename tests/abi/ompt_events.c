/* A program whose regions, members, tasks and dependences a tool can count (ompt_test.py). */
#include "check.h"

int main(void) {
  int x = 0, y = 0, sum = 0, inner = 0, got = 0, locked = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_max_active_levels(2);
  for (int repeat = 0; repeat < 3; ++repeat) {
#pragma omp parallel num_threads(4) /* 3 regions, 12 members */
    {
#pragma omp for schedule(dynamic, 2) reduction(+ : sum)
      for (int i = 0; i < 32; ++i) sum += i;
#pragma omp single
      {
#pragma omp task depend(out : x) shared(x)
        x = 1;
#pragma omp task depend(in : x) depend(out : y) shared(x, y)
        y = x + 1;
#pragma omp taskwait
#pragma omp task if (0) shared(y)
        ++y;
      } /* 9 tasks */
#pragma omp critical
      ++got;
      omp_set_lock(&lock);
      ++locked;
      omp_unset_lock(&lock);
#pragma omp parallel num_threads(3) /* 12 regions, 36 members */
      {
#pragma omp barrier
#pragma omp atomic
        ++inner;
      }
    }
  }
#pragma omp parallel num_threads(1) /* 1 region, 1 member */
#pragma omp taskloop num_tasks(5)   /* 5 tasks */
  for (int i = 0; i < 10; ++i) check_add(&inner, 1);
  omp_destroy_lock(&lock);
  /* gcc's omp.h does not know it. */
  int (*control)(int, int, void*) = (int (*)(int, int, void*))dlsym(RTLD_DEFAULT, "omp_control_tool");
  const int told = control(3, 4, NULL);
  CHECK_EQ(sum, 3 * 31 * 16);
  CHECK_EQ(y, 3);
  CHECK_EQ(got, 12);
  CHECK_EQ(locked, 12);
  CHECK_EQ(inner, 46);
  printf("%d\n", told);
  return check_failures != 0;
}
