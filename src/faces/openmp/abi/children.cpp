// The children and threads that a member starts. They begin with the signals blocked that the thread had which started
// them; and weft's threads have nearly all blocked (os/klt.h), so that such a child ignored SIGTERM, and its timeouts
// never came. What fork() needs is done in the child (core/fork.cpp); the others start a thread, or another program
// at once:
//
//   pthread_create(),              the calling thread has them blocked meanwhile that the program has, no others
//   thrd_create()
//   posix_spawn(), posix_spawnp()  are told which signals, unless the program has told them
//   popen()                        as pthread_create(); a handler that comes then finds itself in a member that has
//                                  called it
//   system()                       runs on a thread of its own, which has. It lasts for as long as the child does,
//                                  which is too long for the other way. (Not popen(): a child may ask to be killed when
//                                  the thread that has started it ends, prctl(PR_SET_PDEATHSIG).)
//
// vfork() cannot be called for another. Names and versions are hidden as that of sched_yield() is
// (abi/sched_yield.cpp).
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <spawn.h>
#include <threads.h>

#include "core/lend.h"
#include "core/preempt.h"
#include "core/signal_masks.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/next_function.h"
#include "os/klt.h"
#include "os/signal_mask.h"

namespace weft::openmp {
namespace {

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);

using CreateThread = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

constinit NextFunction<CreateThread> create_thread("pthread_create");
constinit NextFunction<int(thrd_t*, thrd_start_t, void*)> create_c_thread("thrd_create");
constinit NextFunction<Spawn> spawn("posix_spawn");
constinit NextFunction<Spawn> spawn_by_path("posix_spawnp");
constinit NextFunction<FILE*(const char*, const char*)> open_pipe("popen");
constinit NextFunction<int(const char*)> run("system");

[[gnu::constructor]] void look_up() {
  create_thread.look_up();
  create_c_thread.look_up();
  spawn.look_up();
  spawn_by_path.look_up();
  open_pipe.look_up();
  run.look_up();
}

// nullptr: the caller has none, or is a handler of the program's on the KLT of a thread that sleeps, as another KLT
// carries its worker. What that one holds, and has blocked, is about what runs there.
core::Worker* worker_of_caller() {
  core::Worker* worker = core::this_worker();
  return worker != nullptr && core::is_lent_from_here(*worker) ? nullptr : worker;
}

// What the caller's children shall have blocked, and whether that is something else than what it has itself.
struct ChildSignals {
  const os::SignalMask own = os::signals_blocked();
  const os::SignalMask wanted = core::signals_of_child(worker_of_caller());
  bool differ() const { return wanted != own; }
};

// While it lasts libc may have others blocked on the calling thread, and gives those back in the end: on the same one.
// Main's are known to others meanwhile.
class CallThatBlocks {
 public:
  explicit CallThatBlocks(os::SignalMask before) { os::begin_call_that_blocks(before); }
  ~CallThatBlocks() { os::end_call_that_blocks(); }
  CallThatBlocks(const CallThatBlocks&) = delete;
  CallThatBlocks& operator=(const CallThatBlocks&) = delete;

 private:
  const core::HeldOff here_{worker_of_caller()};
};

bool says_which_signals(const posix_spawnattr_t* attributes) {
  short flags = 0;
  return attributes != nullptr && posix_spawnattr_getflags(attributes, &flags) == 0 &&
         (flags & POSIX_SPAWN_SETSIGMASK) != 0;
}

bool says_which_signals(const pthread_attr_t* attributes) {
  sigset_t set;
  return attributes != nullptr && pthread_attr_getsigmask_np(attributes, &set) != PTHREAD_ATTR_NO_SIGMASK_NP;
}

// A copy lasts as long as the original does; none holds memory of its own.
posix_spawnattr_t with_signals(const posix_spawnattr_t* attributes, os::SignalMask blocked) {
  posix_spawnattr_t changed;
  if (attributes != nullptr)
    changed = *attributes;
  else
    posix_spawnattr_init(&changed);
  short flags = 0;
  posix_spawnattr_getflags(&changed, &flags);
  posix_spawnattr_setflags(&changed, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK));
  const sigset_t set = os::set_of_mask(blocked);
  posix_spawnattr_setsigmask(&changed, &set);
  return changed;
}

int spawn_by(Spawn* function, pid_t* child, const char* program, const posix_spawn_file_actions_t* actions,
             const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  const ChildSignals signals;
  const CallThatBlocks until_it_runs(signals.own);
  if (!signals.differ() || says_which_signals(attributes))
    return function(child, program, actions, attributes, arguments, environment);
  const posix_spawnattr_t changed = with_signals(attributes, signals.wanted);
  return function(child, program, actions, &changed, arguments, environment);
}

struct Command {
  const char* line;
  os::SignalMask blocked;
  int status;
  int error;
};

void* run_command(void* argument) {
  Command& command = *static_cast<Command*>(argument);
  os::set_signals(command.blocked);
  command.status = run.get()(command.line);
  command.error = errno;
  os::block_all_signals();  // no handler of the program's while the thread ends
  return nullptr;
}

// What call() starts has the signals blocked that it shall have.
template <class Call>
auto with_signals_of_child(Call call) {
  const ChildSignals signals;
  const CallThatBlocks here(signals.own);
  if (!signals.differ()) return call();
  os::set_signals(signals.wanted);
  const auto result = call();
  os::set_signals(signals.own);
  return result;
}

int run_here(const char* line, os::SignalMask blocked) {
  const CallThatBlocks here(blocked);
  return run.get()(line);
}

}  // namespace

WEFT_EXPORT int weft_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                                    void* argument) {
  const auto create = [=] { return create_thread.get()(thread, attributes, entry, argument); };
  return says_which_signals(attributes) ? create() : with_signals_of_child(create);
}
WEFT_VERSION(weft_pthread_create, "pthread_create@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_create_newer, weft_pthread_create);
WEFT_VERSION(weft_pthread_create_newer, "pthread_create@GLIBC_2.34");

WEFT_EXPORT int weft_thrd_create(thrd_t* thread, thrd_start_t entry, void* argument) {
  return with_signals_of_child([=] { return create_c_thread.get()(thread, entry, argument); });
}
WEFT_VERSION(weft_thrd_create, "thrd_create@GLIBC_2.28");
WEFT_DEFINE_JUMP(weft_thrd_create_newer, weft_thrd_create);
WEFT_VERSION(weft_thrd_create_newer, "thrd_create@GLIBC_2.34");

WEFT_EXPORT int weft_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                                 const posix_spawnattr_t* attributes, char* const* arguments,
                                 char* const* environment) {
  return spawn_by(spawn.get(), child, path, actions, attributes, arguments, environment);
}
WEFT_VERSION(weft_posix_spawn, "posix_spawn@GLIBC_2.15");

WEFT_EXPORT int weft_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                                  const posix_spawnattr_t* attributes, char* const* arguments,
                                  char* const* environment) {
  return spawn_by(spawn_by_path.get(), child, file, actions, attributes, arguments, environment);
}
WEFT_VERSION(weft_posix_spawnp, "posix_spawnp@GLIBC_2.15");

WEFT_EXPORT FILE* weft_popen(const char* line, const char* mode) {
  return with_signals_of_child([=] { return open_pipe.get()(line, mode); });
}
WEFT_VERSION(weft_popen, "popen@GLIBC_2.2.5");

WEFT_EXPORT int weft_system(const char* line) {
  const ChildSignals signals;
  Command command{line, signals.wanted, -1, 0};
  pthread_t thread;
  if (line == nullptr || !signals.differ() || pthread_create(&thread, nullptr, run_command, &command) != 0)
    return run_here(line, signals.own);
  pthread_join(thread, nullptr);
  if (command.status == -1) errno = command.error;
  return command.status;
}
WEFT_VERSION(weft_system, "system@GLIBC_2.2.5");

}  // namespace weft::openmp
