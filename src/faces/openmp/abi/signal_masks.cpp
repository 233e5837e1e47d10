// The signals that a member has blocked. Libc asks the kernel, which knows of the kernel thread that the member runs on
// at the moment; what the program sets goes with the member here (core/signal_masks.h):
//
//   pthread_sigmask(), sigprocmask()   set and tell the member's
//   siglongjmp() and its like          give back what sigsetjmp() has saved, perhaps on another kernel thread
//
// Outside of regions they are libc's. (Not setcontext(), nor a handler that returns with another mask in its context.)
// Names and versions are hidden as that of sched_yield() is (abi/sched_yield.cpp); libc's versions all do the same.
#include <cerrno>
#include <csetjmp>
#include <csignal>

#include "core/identities.h"
#include "core/lend.h"
#include "core/signal_masks.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/next_function.h"
#include "faces/openmp/member.h"
#include "faces/openmp/team.h"
#include "os/klt.h"
#include "os/signal_mask.h"

namespace weft::openmp {
namespace {

using Change = int(int, const sigset_t*, sigset_t*);
using Jump = void(__jmp_buf_tag*, int);

constinit NextFunction<Change> change_of_thread("pthread_sigmask");
constinit NextFunction<Change> change_of_process("sigprocmask");
constinit NextFunction<Jump> jump("siglongjmp");
constinit NextFunction<Jump> checked_jump("__longjmp_chk");

[[gnu::constructor]] void look_up() {
  change_of_thread.look_up();
  change_of_process.look_up();
  jump.look_up();
  checked_jump.look_up();
}

// The caller's, where it is a member of a team; else nullptr. A handler on the KLT of a thread of the program that
// sleeps, as another carries its worker, changes the mask of that KLT.
core::Worker* worker_of_member() {
  core::Worker* worker = core::this_worker();
  if (worker == nullptr || !core::identities_enabled || core::is_lent_from_here(*worker)) return nullptr;
  if (worker->current == nullptr || worker->identities.installed == nullptr) return nullptr;
  const Member* member = known_member();
  if (member != nullptr && member->team->level > 0) return worker;
  return nullptr;
}

// As pthread_sigmask().
int change(core::Worker& worker, int how, const sigset_t* set, sigset_t* before) {
  const os::SignalMask had = core::signals_of_caller(worker);
  if (set != nullptr) {
    const os::SignalMask mask = os::mask_of_set(*set);
    switch (how) {
      case SIG_BLOCK:
        core::set_signals_of_caller(worker, had | mask);
        break;
      case SIG_UNBLOCK:
        core::set_signals_of_caller(worker, had & ~mask);
        break;
      case SIG_SETMASK:
        core::set_signals_of_caller(worker, mask);
        break;
      default:
        return EINVAL;
    }
  }
  if (before != nullptr) *before = os::set_of_mask(had);
  return 0;
}

int change_outside(Change* function, int how, const sigset_t* set, sigset_t* before) {
  core::Worker* worker = core::this_worker();
  if (set != nullptr && worker != nullptr) core::root_sets_signals(*worker);
  const int result = function(how, set, before);
  if (set != nullptr && result == 0) os::note_change_by_main();
  return result;
}

[[noreturn]] void jump_by(NextFunction<Jump>& function, __jmp_buf_tag* place, int value) {
  core::Worker* worker = place->__mask_was_saved != 0 ? worker_of_member() : nullptr;
  if (worker != nullptr) {
    const os::SignalMask saved = os::mask_of_set(place->__saved_mask);
    place->__saved_mask = os::set_of_mask(core::restore_signals_of_caller(*worker, saved));
  }
  function.get()(place, value);
  __builtin_unreachable();
}

}  // namespace

WEFT_EXPORT int weft_pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  if (core::Worker* worker = worker_of_member(); worker != nullptr) return change(*worker, how, set, before);
  return change_outside(change_of_thread.get(), how, set, before);
}
WEFT_VERSION(weft_pthread_sigmask, "pthread_sigmask@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_pthread_sigmask_newer, weft_pthread_sigmask);
WEFT_VERSION(weft_pthread_sigmask_newer, "pthread_sigmask@GLIBC_2.32");

WEFT_EXPORT int weft_sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  if (core::Worker* worker = worker_of_member(); worker != nullptr) {
    const int error = change(*worker, how, set, before);
    if (error != 0) errno = error;
    return error == 0 ? 0 : -1;
  }
  return change_outside(change_of_process.get(), how, set, before);
}
WEFT_VERSION(weft_sigprocmask, "sigprocmask@GLIBC_2.2.5");

WEFT_EXPORT void weft_siglongjmp(__jmp_buf_tag* place, int value) { jump_by(jump, place, value); }
WEFT_VERSION(weft_siglongjmp, "siglongjmp@GLIBC_2.2.5");
WEFT_DEFINE_JUMP(weft_longjmp, weft_siglongjmp);
WEFT_VERSION(weft_longjmp, "longjmp@GLIBC_2.2.5");

WEFT_EXPORT void weft_longjmp_chk(__jmp_buf_tag* place, int value) { jump_by(checked_jump, place, value); }
WEFT_VERSION(weft_longjmp_chk, "__longjmp_chk@GLIBC_2.11");

}  // namespace weft::openmp
