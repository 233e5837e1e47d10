#include "os/frames_below.h"

#include <cerrno>
#include <cstring>
#include <sys/syscall.h>

#include "arch/interrupted.h"
#include "arch/signal_frame.h"
#include "arch/system_call.h"
#include "os/code_not_to_leave.h"
#include "os/klt.h"
#include "os/linker_lock.h"
#include "os/pages.h"

namespace weft::os {
namespace {

std::uintptr_t (*end_of_frames_on)(std::uintptr_t) = nullptr;

// The kernel says that it cannot read there before it says that it does not know what to do.
bool can_be_read(std::uintptr_t address) {
  constexpr long nothing_known = -1;
  return arch::system_call(SYS_rt_sigprocmask, nothing_known, static_cast<long>(address), 0, kernel_set_bytes) ==
         -EINVAL;
}

constexpr std::uintptr_t looks_at_ticks = 256UL * 1024;
constexpr std::uintptr_t looks_at_yields = 32UL * 1024;  // they come often: 2 us where signals are blocked

// How far to look from there on, for so many bytes at most. Behind a unit's frames lies whatever the kernel has put
// there. (Bug: a malloc arena, whose thread had called dl_iterate_phdr(): what ran on that stack was never left again.)
std::uintptr_t end_of_look(std::uintptr_t begin, std::uintptr_t looks_at) {
  const std::uintptr_t end = end_of_frames_on != nullptr ? end_of_frames_on(begin) : UINTPTR_MAX;
  return end - begin < looks_at ? end : begin + looks_at;
}

// Whether a handler of the program's runs, on the stack from `begin` on: there, within `looks_at` bytes, lies then what
// the kernel has saved, with fewer signals blocked than now. Where none is blocked, or what is blocked on weft's own
// KLTs, none runs (but for one with SA_NODEFER and an empty mask). A context that a handler has left behind on the
// stack, and that nothing has overwritten yet, may be taken for one: then the code is not left this time.
//
// What it reads are the program's words, which others may write meanwhile.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool handler_lies_below(SignalMask blocked, std::uintptr_t begin,
                                                                              std::uintptr_t looks_at) {
  if (blocked == 0 || blocked == signals_blocked_on_klts()) return false;
  constexpr std::uintptr_t step = arch::saved_context_alignment;
  const std::uintptr_t end = end_of_look(begin, looks_at);
  std::uintptr_t readable = begin;  // up to there
  for (std::uintptr_t at = (begin + step - 1) / step * step; at + sizeof(ucontext_t) <= end; at += step) {
    while (at + sizeof(ucontext_t) > readable) {
      if (!can_be_read(readable)) return false;
      readable = (readable / page + 1) * page;
    }
    const auto& there = *reinterpret_cast<const ucontext_t*>(at);
    if (!arch::looks_like_saved_context(there)) continue;
    const SignalMask before = blocked_in(there);
    if (before != blocked && (before & ~blocked) == 0) return true;
  }
  return false;
}

}  // namespace

void bound_frames_by(std::uintptr_t (*end_of_frames)(std::uintptr_t stack)) { end_of_frames_on = end_of_frames; }

SignalMask blocked_in(const ucontext_t& context) {
  SignalMask mask = 0;
  memcpy(&mask, &context.uc_sigmask, kernel_set_bytes);
  return mask;
}

bool runs_in_handler(const ucontext_t& interrupted) {
  return handler_lies_below(blocked_in(interrupted), arch::interrupted_stack_pointer(interrupted), looks_at_ticks);
}

// Whether the code has been called by dl_iterate_phdr(), which holds a lock of the dynamic linker's meanwhile: weft's
// own KLTs want it, and whoever throws. (Unwinders that are linked into a program ask so for each exception.) Then the
// lock has an owner, and a return address into that function lies near on the stack. Who looked once may have left one
// behind there. That does no harm: nearly always nobody has the lock, and while somebody has, the code is not left this
// time, but the next. (Bug: what slept over such an address, in a call on the KLT of a root that could go on, was never
// left.) Where the owner is not known, what runs comes to write over it, or to return; what sleeps does not.
//
// It is known by the thread whose storage the code has, not by the KLT, so nothing is said about which one it is. Nor
// is what sleeps left after a while all the same: with the lock in hand it would wait for a worker, and each worker,
// and the watchdog's KLT, may wait for the lock.
//
// A callback that has put more than this below it is taken for any other code. (Bug: what libgfortran calls to tell
// where an error was has put more than 4 KiB there: nobody got the lock any more.)
//
// It, too, reads the program's words.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] bool runs_under_lock_of_linker(std::uintptr_t stack) {
  const Held held = linker_lock();
  if (held == Held::no) return false;
  const std::uintptr_t looks_at = held == Held::yes ? 64UL * 1024 : 4096;
  const std::uintptr_t end = end_of_look(stack, looks_at);
  std::uintptr_t readable = (stack / page + 1) * page;  // up to there
  for (std::uintptr_t at = (stack + 7) / 8 * 8; at < end; at += 8) {
    if (at >= readable) {
      if (!can_be_read(at)) return false;
      readable += page;
    }
    const auto word = *reinterpret_cast<const std::uintptr_t*>(at);
    if (is_in_walk_of_objects(word - 1)) return true;  // not its own address, which whoever calls it may have at hand
  }
  return false;
}

bool in_handler_of_program() {
  const auto stack = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return handler_lies_below(signals_blocked(), stack, looks_at_yields);
}

bool called_under_lock_of_linker() {
  return runs_under_lock_of_linker(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

}  // namespace weft::os
