/* A member forks; the child has no thread but the member, and ends in the region; or it is the master, and leaves it
 * although a task of its own is not complete, and will never be here (ompt_test.py). */
#include <sys/wait.h>

#include "check.h"

static void master_leaves(void) {
  int begun = 0, status = -1;
  pid_t child = 1;
  omp_event_handle_t event;
#pragma omp parallel num_threads(2) shared(begun, child, event) /* 1 region, 2 members */
#pragma omp master
  {
#pragma omp task detach(event) shared(begun) /* 1 task */
    check_store(&begun, 1);
    child = fork();
    if (child != 0) {
      while (waitpid(child, &status, 0) != child) {
      }
      omp_fulfill_event(event);
    }
  }
  if (child == 0) _exit(omp_get_level() == 0 ? 7 : 8); /* the tool is told of no end */
  CHECK_EQ(begun, 1);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 7);
}

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
  master_leaves();
  return check_failures != 0;
}
