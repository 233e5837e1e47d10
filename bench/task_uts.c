// Unbalanced tree search (S. Olivier et al., "UTS: An Unbalanced Tree Search Benchmark", 2006): the nodes of a tree are
// counted whose shape only a hash decides. The root has n children, every other node 8 with a probability of 12 %, so
// that most subtrees are single nodes and few are large. A task for each node that has children.
#include "task_program.h"

enum { CHILDREN = 8 };

static const uint64_t LIMIT = (uint64_t)(0.12 * 18446744073709551615.0);

static int root_children;
static long counted, expected;

static uint64_t hash(uint64_t parent, uint64_t child) {
  uint64_t x = parent + (child + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static long count(uint64_t node, int children) {
  long found[CHILDREN];
  for (int i = 0; i < children; i++) {
    const uint64_t child = hash(node, (uint64_t)i);
    found[i] = 1;
    if (child >= LIMIT) continue;
#pragma omp task shared(found) firstprivate(child, i)
    found[i] = 1 + count(child, CHILDREN);
  }
#pragma omp taskwait
  long sum = 0;
  for (int i = 0; i < children; i++) sum += found[i];
  return sum;
}

static long count_alone(uint64_t node, int children) {
  long sum = 0;
  for (int i = 0; i < children; i++) {
    const uint64_t child = hash(node, (uint64_t)i);
    sum += 1 + (child < LIMIT ? count_alone(child, CHILDREN) : 0);
  }
  return sum;
}

static void prepare(int n) {
  root_children = n;
  expected = count_alone(1, n);
}

static void solve(void) {
  long sums[CHILDREN] = {0};
  for (int first = 0; first < CHILDREN; first++) {
#pragma omp task shared(sums) firstprivate(first)
    for (int i = first; i < root_children; i += CHILDREN) {
      const uint64_t child = hash(1, (uint64_t)i);
      sums[first] += 1 + (child < LIMIT ? count(child, CHILDREN) : 0);
    }
  }
#pragma omp taskwait
  counted = 0;
  for (int i = 0; i < CHILDREN; i++) counted += sums[i];
}

static bool is_right(void) { return counted == expected; }

int main(int argc, char** argv) {
  const TaskProgram program = {"task_uts", 40000, prepare, solve, is_right};
  return run_task_program(argc, argv, &program);
}
