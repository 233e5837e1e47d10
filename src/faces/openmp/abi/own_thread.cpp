// What a member asks libc about the thread that it is. Libc knows that of the lender of its identity, which sleeps
// (os/identity.h), not the stack and the kernel thread that the member runs on:
//
//   pthread_getattr_np()     where the stack ends: asked by virtual machines to which a thread attaches itself (Java's),
//                            by CPython from 3.14 on, and by collectors
//   pthread_getcpuclockid()  the CPU time used
//
// Both are asked of the caller's own thread alone. Names and versions are hidden as that of sched_yield() is
// (abi/sched_yield.cpp); glibc has two versions of each, which do the same.
#include <dlfcn.h>
#include <pthread.h>

#include "core/segment.h"
#include "core/stack.h"
#include "faces/openmp/abi/export.h"
#include "os/klt.h"

namespace weft::openmp {
namespace {

struct Functions {
  int (*get_attributes)(pthread_t, pthread_attr_t*) = nullptr;
  int (*get_cpu_clock)(pthread_t, clockid_t*) = nullptr;
} found;

// While the library is loaded: dlsym() forgets the calling thread's last dlerror().
[[gnu::constructor]] void look_up() {
  found.get_attributes = reinterpret_cast<decltype(found.get_attributes)>(dlsym(RTLD_NEXT, "pthread_getattr_np"));
  found.get_cpu_clock = reinterpret_cast<decltype(found.get_cpu_clock)>(dlsym(RTLD_NEXT, "pthread_getcpuclockid"));
}

const Functions& of_libc() {
  if (found.get_cpu_clock == nullptr) look_up();  // another library's constructor asks, which runs before this one's
  return found;
}

bool is_own(pthread_t thread) { return pthread_equal(thread, pthread_self()) != 0; }

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

}  // namespace weft::openmp
