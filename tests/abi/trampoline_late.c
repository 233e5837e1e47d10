/* A library that needs executable stacks, loaded when members have theirs already: trampoline_late LIBRARY. */
#include "check.h"

int main(int count, char** arguments) {
  check_runtime();
  int members = 0;
#pragma omp parallel reduction(+ : members)
  {
#pragma omp barrier
    members += 1;
  }
  void* library = dlopen(count > 1 ? arguments[1] : "", RTLD_NOW);
  if (library == NULL) {
    const char* error = dlerror();
    fprintf(stderr, "%s\n", error);
    return strstr(error, "executable stack") != NULL ? 77 : 1; /* newer C libraries refuse it */
  }
  int (*add)(int, int);
  *(void**)&add = dlsym(library, "add_by_nested_function");
  int right = 0;
#pragma omp parallel reduction(+ : right)
  for (int i = 0; i < 10; ++i) {
    right += add(i, 1) == i + 1;
#pragma omp barrier
    right += add(i, 2) == i + 2;
  }
  CHECK_EQ(right, members * 20);
  return check_finish();
}
