// What a member asks libc about the thread that it is. Libc knows that of the lender of its identity, which sleeps
// (os/identity.h), not the stack and the kernel thread that the member runs on:
//
//   pthread_getattr_np()     where the stack ends: asked by collectors, by virtual machines to which a thread attaches
//                            itself (Java's), and by CPython from 3.14 on
//   pthread_getcpuclockid()  the CPU time used
//
// And the signals that it sends to itself, by raise() and pthread_kill(): weft's threads leave signals to the program's
// (os/klt.h), but this one is for whoever sends it, and is handled before the call returns.
//
// All this is about the caller's own thread alone. Names and versions are hidden as that of sched_yield() is
// (abi/sched_yield.cpp); where glibc has two versions, they do the same.
#include <csignal>
#include <dlfcn.h>
#include <pthread.h>

#include "core/segment.h"
#include "core/stack.h"
#include "faces/openmp/abi/export.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::openmp {
namespace {

struct Functions {
  int (*get_attributes)(pthread_t, pthread_attr_t*) = nullptr;
  int (*get_cpu_clock)(pthread_t, clockid_t*) = nullptr;
  int (*send)(pthread_t, int) = nullptr;
  int (*send_to_own)(int) = nullptr;
} found;

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// While the library is loaded: dlsym() forgets the calling thread's last dlerror().
[[gnu::constructor]] void look_up() {
  find(found.get_attributes, "pthread_getattr_np");
  find(found.get_cpu_clock, "pthread_getcpuclockid");
  find(found.send, "pthread_kill");
  find(found.send_to_own, "raise");
}

const Functions& of_libc() {
  if (found.send_to_own == nullptr) look_up();  // another library's constructor asks, which runs before this one's
  return found;
}

bool is_own(pthread_t thread) { return pthread_equal(thread, pthread_self()) != 0; }

// Lets the signal in for the length of a call, where weft's threads have it blocked. And another that nobody sends: so
// that the handler has more blocked than what it has interrupted had, by which weft knows that it is one.
class LetIn {
 public:
  explicit LetIn(int signal)
      : before_(os::signals_blocked()), lets_(signal > 0 && signal < NSIG && before_ == os::signals_blocked_on_klts()) {
    if (lets_) os::set_signals(before_ & ~(os::mask_of(signal) | os::mask_of(SIGSTKFLT)));
  }
  ~LetIn() {
    if (lets_) os::set_signals(before_);
  }
  LetIn(const LetIn&) = delete;
  LetIn& operator=(const LetIn&) = delete;

 private:
  const os::SignalMask before_;
  const bool lets_;
};

}  // namespace

WEFT_EXPORT int weft_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  const int error = of_libc().get_attributes(thread, attributes);
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
  if (!is_own(thread)) return of_libc().get_cpu_clock(thread, clock);
  *clock = os::cpu_clock_of(os::this_klt());
  return 0;
}
WEFT_VERSION(weft_pthread_getcpuclockid, "pthread_getcpuclockid@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_getcpuclockid_newer, weft_pthread_getcpuclockid);
WEFT_VERSION(weft_pthread_getcpuclockid_newer, "pthread_getcpuclockid@GLIBC_2.34");

WEFT_EXPORT int weft_raise(int signal) {
  const LetIn handled(signal);
  return of_libc().send_to_own(signal);
}
WEFT_VERSION(weft_raise, "raise@GLIBC_2.2.5");

WEFT_EXPORT int weft_pthread_kill(pthread_t thread, int signal) {
  if (!is_own(thread)) return of_libc().send(thread, signal);
  const LetIn handled(signal);
  return of_libc().send(thread, signal);
}
WEFT_VERSION(weft_pthread_kill, "pthread_kill@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_kill_newer, weft_pthread_kill);
WEFT_VERSION(weft_pthread_kill_newer, "pthread_kill@GLIBC_2.34");

}  // namespace weft::openmp
