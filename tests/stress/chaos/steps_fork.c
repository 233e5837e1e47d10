// Children, forked inside a region.
#include "belongings.h"
#include "random.h"
#include "steps.h"
#include "team.h"
#include "threads.h"
#include "where.h"

enum { all_is_well = 7, something_is_wrong = 8 };

static void check_child(pid_t child) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  CHECK(ended == child, "waitpid: %s", strerror(errno));
  expect_exit(status, all_is_well, "a child");
}

static void live_as_child(int members) {
  long sum = 0;
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
#pragma omp barrier
    sum += 1 + omp_get_thread_num();
  }
  _exit(sum == sum_below(members + 1) ? all_is_well : something_is_wrong);
}

// By a thread that has had no region yet: elsewhere libgomp's children hang.
static void* fork_by_thread(void* argument) {
  const int members = *(int*)argument;
  const pid_t child = fork();
  CHECK(child >= 0, "fork: %s", strerror(errno));
  if (child == 0) live_as_child(members);
  check_child(child);
  thread_ends();
  return NULL;
}

void child_of_thread(struct Team* team, struct Step* step, int me) {
  if (me != below(step->seed, 1, team->members)) return;
  int members = 1 + below(step->seed, 2, 4);
  pthread_join(start(fork_by_thread, &members), NULL);
}

void child_of_member(struct Team* team, struct Step* step, int me) {
  if (me != below(step->seed, 1, team->members)) return;
  const pid_t child = fork();
  CHECK(child >= 0, "fork: %s", strerror(errno));
  if (child == 0) {
    free(malloc(1000));
    _exit(own != 0 && omp_get_thread_num() == me ? all_is_well : something_is_wrong);
  }
  check_child(child);
}
