/* A member forks; the child has no thread but the member, and ends in the region (ompt_test.py). */
#include <sys/wait.h>

#include "check.h"

int main(void) {
  int present = 0, status = -1;
#pragma omp parallel num_threads(4) /* 1 region, 4 members; two of the threads are idle afterwards */
  check_add(&present, 1);
#pragma omp parallel num_threads(2) /* 1 region, 2 members */
  if (omp_get_thread_num() == 1) {
    const pid_t child = fork();
    if (child == 0) exit(7);
    while (waitpid(child, &status, 0) != child) {
    }
  }
  CHECK_EQ(present, 4);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 7);
  return check_failures != 0;
}
