/* task_reduction, in_reduction, reduction on taskloop, reduction with the task modifier on parallel, for, sections and
 * scope. What is added up must be a variable that is shared around, so each test has it on its caller's stack. */
#include "check.h"

static void grouped(int* result) {
  int sum = 0;
  double product = 1.0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(* : product)
  {
    for (int i = 1; i <= 40; ++i) {
#pragma omp task in_reduction(+ : sum)
      {
        check_work(100);
        sum += i;
      }
      if (i <= 10) {
#pragma omp task in_reduction(* : product) in_reduction(+ : sum)
        {
          product *= 2.0;
          sum += 1;
        }
      }
    }
  }
  *result = sum;
  CHECK_EQ((int)product, 1024);
}

/* A task whose own tasks take part, by the address of its copy, and taskgroups within each other. */
static void within_each_other(void) {
  int outer = 0, inner_total = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : outer)
  for (int i = 0; i < 8; ++i) {
#pragma omp task in_reduction(+ : outer) shared(inner_total)
    {
      outer += 1;
      int inner = 0;
#pragma omp taskgroup task_reduction(+ : inner)
      for (int j = 0; j < 6; ++j) {
#pragma omp task in_reduction(+ : inner, outer)
        {
          inner += 1;
          outer += 10;
#pragma omp task in_reduction(+ : inner, outer)
          {
            inner += 1;
            outer += 100;
          }
        }
      }
      check_add(&inner_total, inner);
    }
  }
  CHECK_EQ(inner_total, 8 * 12);
  CHECK_EQ(outer, 8 * (1 + 6 * 110));
}

static void arrays(void) {
  int histogram[16] = {0}, expected[16] = {0};
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : histogram)
  for (int i = 0; i < 64; ++i) {
#pragma omp task in_reduction(+ : histogram)
    for (int k = 0; k < 16; ++k) histogram[k] += i * k % 5;
  }
  for (int i = 0; i < 64; ++i)
    for (int k = 0; k < 16; ++k) expected[k] += i * k % 5;
  for (int k = 0; k < 16; ++k) CHECK_EQ(histogram[k], expected[k]);
}

struct pair {
  long count, sum;
};
static void set_pair(struct pair* pair) { pair->count = pair->sum = 0; }
static void add_pair(struct pair* to, const struct pair* from) {
  to->count += from->count;
  to->sum += from->sum;
}
#pragma omp declare reduction(pairs : struct pair : add_pair(&omp_out, &omp_in)) initializer(set_pair(&omp_priv))

static void loops_of_tasks(void) {
  struct pair total = {0, 0};
  int sum = 0, empty = 5, several = 3;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskloop reduction(pairs : total) reduction(+ : sum) grainsize(7)
    for (int i = 0; i < 100; ++i) {
      total.count++;
      total.sum += i;
      sum += 2;
    }
    const int none = check_load(&check_failures) * 0;
#pragma omp taskloop reduction(+ : empty)
    for (int i = 0; i < none; ++i) empty += 1000;
#pragma omp taskgroup task_reduction(+ : several)
    {
#pragma omp taskloop in_reduction(+ : several) nogroup
      for (unsigned long long i = 0; i < 33; ++i) several++;
#pragma omp taskloop in_reduction(+ : several)
      for (int i = 10; i > 0; --i) several += 2;
    }
  }
  CHECK_EQ(total.count, 100);
  CHECK_EQ(total.sum, 4950);
  CHECK_EQ(sum, 200);
  CHECK_EQ(empty, 5);
  CHECK_EQ(several, 3 + 33 + 20);
}

static void of_the_region(void) {
  int sum = 7;
  const int members = omp_get_max_threads();
  int found = 0;
#pragma omp parallel reduction(task, + : sum)
  {
#pragma omp atomic write
    found = omp_get_num_threads();
    sum += 1;
    for (int i = 0; i < 5; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += 10;
    }
  }
  CHECK_LE(found, members);
  CHECK_EQ(sum, 7 + found * 51);
}

static void of_worksharing(void) {
  int by_loop = 0, by_static = 0, by_sections = 0, by_scope = 0, members = 1;
#pragma omp parallel
  {
#pragma omp single
    members = omp_get_num_threads();
    for (int round = 0; round < 3; ++round) {
#pragma omp for reduction(task, + : by_loop) schedule(dynamic, 2)
      for (int i = 0; i < 24; ++i) {
#pragma omp task in_reduction(+ : by_loop)
        by_loop += i;
        by_loop += 1;
      }
#pragma omp for reduction(task, + : by_static) schedule(static)
      for (int i = 0; i < 24; ++i) {
#pragma omp task in_reduction(+ : by_static)
        by_static += i;
      }
#pragma omp sections reduction(task, + : by_sections)
      {
#pragma omp section
        {
#pragma omp task in_reduction(+ : by_sections)
          by_sections += 3;
        }
#pragma omp section
        by_sections += 4;
      }
#ifndef __clang__ /* 19 has no scope with this modifier */
#pragma omp scope reduction(task, + : by_scope)
      {
#pragma omp task in_reduction(+ : by_scope)
        by_scope += 1;
      }
#else
#pragma omp atomic
      by_scope += 1;
#endif
    }
  }
  CHECK_EQ(by_loop, 3 * (276 + 24));
  CHECK_EQ(by_static, 3 * 276);
  CHECK_EQ(by_sections, 3 * 7);
  CHECK_EQ(by_scope, 3 * members);
}

static void body(void) {
  int result = 0;
  grouped(&result);
  CHECK_EQ(result, 820 + 10);
  within_each_other();
  arrays();
  loops_of_tasks();
  of_the_region();
  of_worksharing();
}

CHECK_MAIN(body)
