// sched_yield() as the program calls it: members that wait for each other call it (OpenBLAS's, barriers and spin locks
// of the program's own, std::this_thread::yield()), so that whoever they wait for can run. Here that may be a member
// that waits for the same worker, of which the kernel knows nothing; it goes on at once so, and does not wait until the
// watchdog has found that nobody gets anywhere (docs/design/stuck.md).
//
// The name has libc's version, and is hidden (one @): the dynamic linker, which looks here before it looks in libc,
// finds it for whoever was linked with libc's; a static linker never binds to it, so a program that is linked with this
// library needs no more of libgomp than before; and dlsym() finds libc's.
//
// A member is left here as in a barrier: it has made a call, and holds what it holds. Not in an allocator that replaces
// libc's (libc's own does not come by here): weft itself may want its lock.
#include <cstdint>

#include "core/scheduler.h"
#include "faces/openmp/abi/export.h"
#include "os/code_not_to_leave.h"

namespace weft::openmp {

WEFT_EXPORT int weft_sched_yield() {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (os::is_in_replaced_allocator(caller) || !core::yield_for_program()) os::libc_sched_yield();
  return 0;
}
WEFT_VERSION(weft_sched_yield, "sched_yield@GLIBC_2.2.5");

}  // namespace weft::openmp
