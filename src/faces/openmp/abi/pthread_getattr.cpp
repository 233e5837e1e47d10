// pthread_getattr_np() as the program calls it: whoever must know where a thread's stack ends asks it (Java's and other
// virtual machines when a thread attaches itself, CPython from 3.14 on, collectors). For a member it would tell of the
// stack on which the lender of its identity sleeps (os/identity.h), or of that of a worker's KLT.
//
// Names and versions as for sched_yield() (abi/sched_yield.cpp). glibc has two versions of one function.
#include <dlfcn.h>
#include <pthread.h>

#include "core/segment.h"
#include "core/stack.h"
#include "faces/openmp/abi/export.h"

namespace weft::openmp {
namespace {

using GetAttributes = int (*)(pthread_t, pthread_attr_t*);
GetAttributes of_libc = nullptr;

[[gnu::constructor]] void look_up_of_libc() {
  of_libc = reinterpret_cast<GetAttributes>(dlsym(RTLD_NEXT, "pthread_getattr_np"));
}

}  // namespace

WEFT_EXPORT int weft_pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) {
  const int error = of_libc(thread, attributes);
  if (error != 0 || pthread_equal(thread, pthread_self()) == 0) return error;
  const core::Stack* stack = core::stack_in_use();
  if (stack == nullptr || !stack->holds(__builtin_frame_address(0))) return 0;
  pthread_attr_setguardsize(attributes, stack->memory.guard);
  return pthread_attr_setstack(attributes, stack->memory.low, stack->memory.size);
}
WEFT_VERSION(weft_pthread_getattr_np, "pthread_getattr_np@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_getattr_np_newer, weft_pthread_getattr_np);
WEFT_VERSION(weft_pthread_getattr_np_newer, "pthread_getattr_np@GLIBC_2.32");

}  // namespace weft::openmp
