// Interrupting what a KLT runs, so that it can be left in the middle (rung 4, by signal).
//
// One real-time signal, the first free one from above unless the program says which; one that whoever starts weft has
// blocked only if there is no other. A program that gives all signals a handler, or their default, when weft runs
// already, does so with this one too: who sends it looks first (keep_interrupt()). It comes from the watchdog
// (interrupt()), from a timer (os/ticker.h), or from a handler that passes a tick on (forward_tick()). The handler runs
// on the stack of the interrupted code, and what it calls may switch away from there, with leave(); when that flow of
// control is resumed, on whichever KLT, the handler returns into the interrupted code with all registers as the kernel
// saved them, vector registers included. Three things make this safe:
//   - Whoever leaves looks first where the code was (Interruption::in_weft, in_runtime): locks inside malloc or stdio
//     would otherwise be held by something that waits (code_not_to_leave.h, frames_below.h).
//   - The signal is unblocked before the code is left, so any number of units can be left so; and the KLT has blocked
//     again what it had before a call with a mask of its own (ppoll, sigsuspend).
//   - What the kernel restores on return belongs to a KLT, not to the code: signal mask and alternate stack are set to
//     those of the KLT that returns.
// Where there are stacks that have no room for that, the kernel calls the handler on the KLT's alternate stack
// (spare_small_stacks()). What may be left, and has the room, then has it called on its own, by way of that one
// (arch/signal_frame.h). Nothing else is left, so nothing of it is touched.
//
// SA_RESTART: a system call that was interrupted goes on by itself where the kernel can do that. Most of those that
// sleep for a given time, or poll, the handler makes anew (os/cut_calls.h); the others (poll with a limit, epoll_pwait,
// sigtimedwait, futex with a limit, ...) return EINTR.
//
// What runs in the handler, all of it async-signal-safe: reads of tables, of weft's own memory and of a number of the
// dynamic linker's, `errno`, glibc's _dl_find_object(), strrchr(), strncmp() and sigaction(), and, by bare system calls
// without libc, rt_sigprocmask, sigaltstack, rt_tgsigqueueinfo, rt_sigtimedwait, tgkill, timer_settime, timer_create,
// timer_delete, sched_setaffinity, sched_getaffinity, getcpu, clock_gettime, futex, rt_sigsuspend, gettid, getpid. No
// allocation, and no lock that anybody could hold here: those of weft's are held in weft's own code alone, which is not
// left.
#pragma once

#include <atomic>
#include <cstdint>
#include <sys/types.h>

#include "os/signal_mask.h"

namespace weft::os {

class Ticker;

/// A call of libc's that goes on only when a word is not what it was: a lock, a condition, the end of a thread.
struct WordAwaited {
  const std::atomic<std::uint32_t>* word = nullptr;  // nullptr: it does not wait for any
  std::uint32_t value = 0;
  /// It would sleep on. (Whoever waits so may rely on the word being there.)
  bool is_unchanged() const { return word != nullptr && word->load(std::memory_order_relaxed) == value; }
};

/// What the signal's handler knows.
struct Interruption {
  enum class Cause : std::uint8_t { watchdog, timer, forwarded };
  Cause cause;
  bool in_weft;     // the code lies in the library that contains weft
  bool in_runtime;  // the same, or libc, the dynamic linker, the C++ runtime, the library that malloc() comes from,
                    // the kernel's vdso, another library that contains weft; or called by dl_iterate_phdr(), which
                    // holds a lock
  bool beside_allocator;  // in the program, of which malloc() is a part: perhaps in there
  bool in_sleep;          // at a system call of libc's that may sleep: it begins anew, or has returned EINTR. Not in a
                          // change of user ids, which holds a lock that weft needs (os/user_ids.h)
  WordAwaited awaited;    // at such a call that begins anew and has no limit of time
  bool in_handler;        // of the program's, or on an alternate stack: what that has interrupted may be anything
  std::uintptr_t instruction;
  Ticker* ticker;  // whose timer it was; nullptr: none's
  void* context;
};

/// Installs the handler. end_of_frames(stack pointer), also asked by in_handler_of_program(): one past the frames on
/// that stack, behind which is somebody else's memory; UINTPTR_MAX: not known. `wanted`: the signal's number; 0: a free
/// real-time one. False: it is, or all are, in use by the program.
bool install_interrupt(void (*interrupted)(const Interruption&), std::uintptr_t (*end_of_frames)(std::uintptr_t stack),
                       int wanted);

/// From now on the handler touches the stack of what it interrupts only where has_room(stack pointer) says that this
/// may be left. KLTs need an alternate stack for that (os/fault.h).
void spare_small_stacks(bool (*has_room)(std::uintptr_t stack));

/// From the handler: calls function(argument), which may switch away from here and come back on another KLT.
void leave(const Interruption& interruption, void (*function)(void*), void* argument);

/// The signal in use, 0 if none: KLTs of weft's must not block it.
int interrupt_signal();

/// The one that was chosen at first, also when the program has taken it since; 0: none was.
int interrupt_signal_chosen();

/// Whether there is one, and it still comes to that handler. If the program has put back its default, or ignores it,
/// the handler is installed again, and what was under way is lost; if it has one of its own, the signal is in use no
/// more. Not from the handler.
bool keep_interrupt();

/// The signal is in use no more. Any caller.
void stop_interrupting();

/// Whether the calling KLT has it blocked from now on.
void block_interrupt(bool block);
/// It has. What was blocked before.
SignalMask block_interrupt_only();

/// Sleeps, all signals blocked but this one, until one comes; the handler ignores what wakes so. Nothing is lost if it
/// was blocked before: then it comes at once. The one that was chosen, also if the program takes it meanwhile.
void suspend_for_interrupt();
void wake_from_suspension(pid_t klt);

/// Sends the signal to the KLT, on behalf of the watchdog. False: errno says why; 0: there is none any more.
bool interrupt(pid_t klt);

/// The same, as a tick of a timer that another has got. Also from the handler.
void forward_tick(pid_t klt);

}  // namespace weft::os
