// Members that spin until all have come, where /proc does not say what a thread does: there is none, or that of another
// PID namespace, or the program has no descriptor left to open it with.
//
// without_proc unmounted|namespace|descriptors; exit status 77: may not be tried here.
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { cannot_be_tried = 77, members = 6 };

static int spin(void) {
  int come = 0;
#pragma omp parallel num_threads(members)
  {
    check_add(&come, 1);
    while (check_load(&come) < members) check_work(10);
  }
  CHECK_EQ(come, members);
  return check_finish();
}

static int spin_unmounted(void) {
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", "/proc", "tmpfs", 0, NULL) != 0)
    return cannot_be_tried;
  return spin();
}

static int spin_in_namespace(void) {
  int status = 0;
  if (unshare(CLONE_NEWPID) != 0) return cannot_be_tried;
  const pid_t child = fork();
  if (child < 0) return cannot_be_tried;
  if (child == 0) return spin();
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

static int spin_without_descriptors(void) {
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_NOFILE, &none) != 0) return cannot_be_tried;
  return spin();
}

int main(int count, char** arguments) {
  check_runtime();
  if (count != 2) return 1;
  if (strcmp(arguments[1], "unmounted") == 0) return spin_unmounted();
  if (strcmp(arguments[1], "namespace") == 0) return spin_in_namespace();
  return spin_without_descriptors();
}
