// Kernel-level threads that weft starts for itself.
#pragma once

#include <cstddef>
#include <ctime>
#include <sys/types.h>

#include "os/interrupt.h"

namespace weft::os {

/// Which signals a KLT of weft's takes.
enum class Signals {
  /// As the thread of the program's that had the first one started, like the threads of other runtimes, which inherit
  /// what that has blocked: so they can be signalled, end the program by SIGPIPE, and have children that take signals.
  /// What is
  /// sent to the process comes to the main thread first, unless that has it blocked. Never blocked are the signals that
  /// an instruction causes, weft's own, and commands of other processes.
  of_program,
  of_commands,  // commands of other processes alone (os/control.h)
  none,
};

/// By a thread of the program's: what the first to call this has blocked is what Signals::of_program stands for.
void remember_signals();

/// Starts a KLT that runs entry(argument) with at least `stack_bytes` of stack besides what its
/// thread-local storage takes. Returns 0 or an errno value (EAGAIN: no thread can be had).
int start_klt(void* (*entry)(void*), void* argument, std::size_t stack_bytes, Signals signals);

/// What KLTs with Signals::of_program have blocked, while nothing else is. Also from a handler.
SignalMask signals_blocked_on_klts();

/// A KLT from start_klt() ends: it is no longer counted.
void note_klt_end();

/// In the child of a fork there are none.
void forget_klts();

/// Whether the main thread has ended, and the KLTs that weft has started are all that is left of the process.
bool only_own_klts_left();

/// What a KLT is doing, as the kernel sees it.
enum class KltActivity { runs, sleeps, gone };
KltActivity klt_activity(pid_t klt);

/// Whether it sleeps in a system call that goes on as if nothing had happened when a handler has run. False also where
/// the kernel does not say.
bool sleeps_restartably(pid_t klt);

/// How often the KLT has gone to sleep so far; 0: not known.
unsigned long klt_sleeps(pid_t klt);

/// The kernel's number of the calling KLT.
int klt_id();

/// Withdraws the calling KLT's restartable-sequences registration: its area would lie in
/// thread-local storage that other KLTs come to use.
void unregister_rseq();

/// From now on the calling KLT's sleeps with a limit end when that is reached, not up to 50 us later.
void sleep_exactly();

/// The clock of the CPU time that a KLT of this process uses.
clockid_t cpu_clock_of(int klt);

/// The CPU time that a KLT of this process has used so far, in nanoseconds; 0 if it is gone.
unsigned long long klt_cpu_time(int klt);

}  // namespace weft::os
