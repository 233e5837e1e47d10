// What a member asks libc about the thread that it is. Libc knows that of the lender of its identity, which sleeps
// (os/identity.h), not the stack and the kernel thread that the member runs on:
//
//   pthread_getattr_np()     where the stack ends: asked by collectors, by virtual machines to which a thread attaches
//                            itself (Java's), and by CPython from 3.14 on
//   pthread_getcpuclockid()  the CPU time used
//
// And the signals that it sends to itself, by raise() and pthread_kill(): weft's threads leave signals to the program's
// (os/klt.h), but this one is for whoever sends it, and is handled before the call returns, or when it is blocked no
// more.
//
// And a mutex of the program's that the kernel has a say in: one with PTHREAD_PRIO_INHERIT is unlocked by the kernel,
// if the kernel thread is the one that libc has noted as the owner; here that is the lender, so it was never unlocked.
// So pthread_mutexattr_setprotocol() asks for a plain one.
//
// All else is about the caller's own thread alone. Names and versions are hidden as that of sched_yield() is
// (abi/sched_yield.cpp); where glibc has two versions, they do the same.
#include <csignal>
#include <pthread.h>

#include "core/lend.h"
#include "core/segment.h"
#include "core/signal_masks.h"
#include "core/stack.h"
#include "core/worker.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/next_function.h"
#include "os/klt.h"
#include "os/signal_mask.h"

namespace weft::openmp {
namespace {

constinit NextFunction<int(pthread_t, pthread_attr_t*)> get_attributes("pthread_getattr_np");
constinit NextFunction<int(pthread_t, clockid_t*)> get_cpu_clock("pthread_getcpuclockid");
constinit NextFunction<int(pthread_t, int)> send("pthread_kill");
constinit NextFunction<int(int)> send_to_own("raise");
constinit NextFunction<int(pthread_mutexattr_t*, int)> set_protocol("pthread_mutexattr_setprotocol");

[[gnu::constructor]] void look_up() {
  get_attributes.look_up();
  get_cpu_clock.look_up();
  send.look_up();
  send_to_own.look_up();
  set_protocol.look_up();
}

bool is_own(pthread_t thread) { return pthread_equal(thread, pthread_self()) != 0; }

// Lets the signal in for the length of a call, where weft's threads have it blocked.
class LetIn {
 public:
  explicit LetIn(int signal) : before_(os::signals_blocked()) {
    core::Worker* worker = core::this_worker();
    const os::SignalMask bit = signal > 0 && signal < NSIG ? os::mask_of(signal) : 0;
    if (worker == nullptr || (before_ & bit) == 0 || core::is_lent_from_here(*worker)) return;
    lets_ = core::keeps_from_caller(worker, signal, before_);
    if (lets_)
      os::set_signals(core::while_letting_in(bit, before_));
    else
      core::note_sent_to_itself(*worker, signal);
  }
  ~LetIn() {
    if (lets_) os::set_signals(before_);
  }
  LetIn(const LetIn&) = delete;
  LetIn& operator=(const LetIn&) = delete;

 private:
  const os::SignalMask before_;
  bool lets_ = false;
};

}  // namespace

WEFT_EXPORT int weft_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  const int error = get_attributes.get()(thread, attributes);
  if (error != 0 || !is_own(thread)) return error;
  const core::Stack* stack = core::stack_in_use();
  if (stack == nullptr || !stack->holds(__builtin_frame_address(0))) return 0;
  pthread_attr_setguardsize(attributes, stack->memory.guard);
  return pthread_attr_setstack(attributes, stack->memory.low, stack->memory.size);
}
WEFT_VERSION(weft_pthread_getattr_np, "pthread_getattr_np@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_getattr_np_newer, weft_pthread_getattr_np);
WEFT_VERSION(weft_pthread_getattr_np_newer, "pthread_getattr_np@GLIBC_2.32");

WEFT_EXPORT int weft_pthread_getcpuclockid(pthread_t thread, clockid_t* clock) {
  if (!is_own(thread)) return get_cpu_clock.get()(thread, clock);
  *clock = os::cpu_clock_of(os::this_klt());
  return 0;
}
WEFT_VERSION(weft_pthread_getcpuclockid, "pthread_getcpuclockid@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_getcpuclockid_newer, weft_pthread_getcpuclockid);
WEFT_VERSION(weft_pthread_getcpuclockid_newer, "pthread_getcpuclockid@GLIBC_2.34");

WEFT_EXPORT int weft_raise(int signal) {
  const LetIn handled(signal);
  return send_to_own.get()(signal);
}
WEFT_VERSION(weft_raise, "raise@GLIBC_2.2.5");

WEFT_EXPORT int weft_pthread_kill(pthread_t thread, int signal) {
  if (!is_own(thread)) return send.get()(thread, signal);
  const LetIn handled(signal);
  return send.get()(thread, signal);
}
WEFT_VERSION(weft_pthread_kill, "pthread_kill@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_kill_newer, weft_pthread_kill);
WEFT_VERSION(weft_pthread_kill_newer, "pthread_kill@GLIBC_2.34");

WEFT_EXPORT int weft_pthread_mutexattr_setprotocol(pthread_mutexattr_t* attributes, int protocol) {
  return set_protocol.get()(attributes, protocol == PTHREAD_PRIO_INHERIT ? PTHREAD_PRIO_NONE : protocol);
}
WEFT_VERSION(weft_pthread_mutexattr_setprotocol, "pthread_mutexattr_setprotocol@GLIBC_2.4");
WEFT_DEFINE_JUMP(weft_pthread_mutexattr_setprotocol_newer, weft_pthread_mutexattr_setprotocol);
WEFT_VERSION(weft_pthread_mutexattr_setprotocol_newer, "pthread_mutexattr_setprotocol@GLIBC_2.34");

}  // namespace weft::openmp
