// Children of fork(): whoever forks is a root there, which goes through steps in a program of its own.
#include "check.h"
#include "program.h"
#include "step.h"

#include <weft/io.h>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace native {
namespace {

constexpr int done_well = 42;

struct Child {
  pid_t id;
  int status = 0;
};

void wait_in_the_kernel(void* argument) {
  auto& child = *static_cast<Child*>(argument);
  while (waitpid(child.id, &child.status, 0) != child.id) MUST(errno == EINTR);
}

bool has_ended(Child& child) {
  const pid_t answer = waitpid(child.id, &child.status, WNOHANG);
  MUST(answer == 0 || answer == child.id);
  return answer != 0;
}

void wait_by_poll(Child& child) {
  const auto file = static_cast<int>(syscall(SYS_pidfd_open, child.id, 0));
  if (file >= 0) {
    pollfd one{file, POLLIN, 0};
    size_t ready = 0;
    OK(weft_poll(&one, 1, WEFT_FOREVER, &ready));
    SAME(close(file), 0);
  }
  wait_in_the_kernel(&child);
}

int status_of(Actor& actor, pid_t id) {
  Child child{id};
  at("waiting for a child");
  switch (actor.waits ? actor.random.below(4) : actor.random.below(2)) {
    case 0:
      wait_in_the_kernel(&child);
      break;
    case 1:
      OK(weft_blocking(wait_in_the_kernel, &child));
      break;
    case 2:
      wait_by_poll(child);
      break;
    default:
      while (!has_ended(child)) OK(weft_sleep(100'000));
  }
  return child.status;
}

[[noreturn]] void live_as_child(std::uint64_t seed) {
  watch_child();
  Random random(seed);
  run_child(random);
  _exit(done_well);
}

constexpr unsigned most_children = 2;  // at a time: each has workers of its own

// Negative: there are enough, or the system has no more.
pid_t fork_if_possible() {
  if (program->children.fetch_add(1) >= most_children) {
    program->children.fetch_sub(1);
    return -1;
  }
  at("fork()");
  const pid_t id = fork();
  MUST(id >= 0 || errno == EAGAIN || errno == ENOMEM);
  if (id < 0) program->children.fetch_sub(1);
  return id;
}

void expect_end(Actor& actor, pid_t id, int code) {
  const int status = status_of(actor, id);
  if (WIFSIGNALED(status)) fail("steps_fork.cpp: the signal that has ended a child", WTERMSIG(status), 0);
  SAME(WEXITSTATUS(status), code);
  program->children.fetch_sub(1);
}

}  // namespace

// It may hold a mutex, which is its own in the child too.
void fork_child(Actor& actor) {
  weft_mutex mutex;
  OK(weft_mutex_init(&mutex, actor.random.below(4)));
  const bool holds = actor.random.one_in(2);
  if (holds) OK(weft_mutex_try_lock(&mutex));
  const std::uint64_t seed = actor.random.next();
  const pid_t id = fork_if_possible();
  if (holds) OK(weft_mutex_unlock(&mutex));
  if (id < 0) return;
  if (id == 0) live_as_child(seed);
  expect_end(actor, id, done_well);
}

namespace {

// The child returns from here, from where the unit's function ends.
void fork_and_return(Actor& actor) {
  const pid_t id = fork_if_possible();
  if (id < 0) return;
  if (id == 0) return watch_child();
  expect_end(actor, id, 0);
}

}  // namespace

void fork_in_units(Actor& actor) { run_team(actor, {.body = fork_and_return}, actor.random.between(1, 3)); }

}  // namespace native
