/* A tree of tasks, wide at the root and now and then hundreds of levels deep, each of which waits for its children:
 * what members that wait have put aside as not theirs must not be gone through again by every one of the waits below.
 */
#include <stdint.h>

#include "check.h"

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

static int at_root = 2000;

/* One node in eight has eight children, as good as: the tree just does not grow for ever. */
static int children_of(uint64_t node, int level) { return level == 0 ? at_root : (mixed(node) % 8000 < 999 ? 8 : 0); }

static long count_alone(uint64_t node, int level) {
  long nodes = 1;
  for (int child = 0; child < children_of(node, level); ++child)
    nodes += count_alone(mixed(node + 1 + (unsigned)child), level + 1);
  return nodes;
}

static long count_by_tasks(uint64_t node, int level) {
  const int children = children_of(node, level);
  long* const below = children != 0 ? calloc((size_t)children, sizeof *below) : NULL;
  for (int child = 0; child < children; ++child) {
#pragma omp task untied firstprivate(child)
    below[child] = count_by_tasks(mixed(node + 1 + (unsigned)child), level + 1);
  }
#pragma omp taskwait
  long nodes = 1;
  for (int child = 0; child < children; ++child) nodes += below[child];
  free(below);
  return nodes;
}

int main(void) {
  check_runtime();
  if (check_sanitized()) at_root = 200;
  const long expected = count_alone(1234, 0);
  long found = 0;
#pragma omp parallel
#pragma omp single nowait
#pragma omp task untied shared(found)
  found = count_by_tasks(1234, 0);
  CHECK_EQ(found, expected);
  CHECK_GE(expected, 50 * at_root);
  return check_finish();
}
