// Kernel-level threads that weft starts for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <sys/types.h>

#include "os/cpu_set.h"
#include "os/signal_mask.h"

namespace weft::os {

/// Which signals a KLT of weft's takes.
enum class Signals {
  /// Those that an instruction or a system call of their own causes; SIGPROF and SIGVTALRM, so that profilers see the
  /// work where it is done; and commands of other processes. Others are left to the program's own threads. All KLTs of
  /// this kind have the same blocked, whenever they are started.
  of_its_work,
  of_commands,  // commands of other processes alone (os/control.h)
  none,
  of_program,  // as a thread of the program's: what was blocked when remember_signals() was called is blocked
};

/// Those of them that the program blocks to go on where others end, or to wait for them: they are blocked on weft's
/// KLTs too if they were when the first was started, as on a thread that the program had started then.
inline constexpr SignalMask signals_left_to_program =
    mask_of(SIGPIPE) | mask_of(SIGXFSZ) | mask_of(SIGPROF) | mask_of(SIGVTALRM);

/// By a thread of the program's, when the signal that interrupts has been chosen: what it has blocked is what a child
/// that is forked by a KLT of weft's shall have blocked, too.
void remember_signals();
/// Before such a fork: the same, if the kernel says what the main thread has blocked by now.
void look_up_signals();
/// Around a call of the program's that has signals blocked for as long as it lasts: what the main thread, if it is the
/// caller, has blocked before it. For others nothing.
void begin_call_that_blocks(std::uint64_t blocked_before);
void end_call_that_blocks();
/// The main thread, if it is the caller, has a mask in force, or is about to, that is not main's: `of_main` is what
/// main has blocked. Not `foreign`: no more. For others nothing. Also from handlers.
void note_mask_on_main(bool foreign, std::uint64_t of_main);
/// The caller has changed its mask, which is the program's: what the main thread has blocked is known, if it is that.
void note_change_by_main();
/// What main had blocked when that was looked up last, or else as it started weft.
std::uint64_t signals_of_program();
/// What a child that the calling KLT starts by other means shall have blocked: what the KLT itself has, if it is not
/// one of weft's.
std::uint64_t signals_of_child();
/// In such a child.
void give_back_signals();

/// Starts a KLT that runs entry(argument) with at least `stack_bytes` of stack besides what its
/// thread-local storage takes. Returns 0 or an errno value (EAGAIN: no thread can be had). It may run on `cpus`; none:
/// where the caller may.
int start_klt(void* (*entry)(void*), void* argument, std::size_t stack_bytes, Signals signals, const CpuSet& cpus = {});

/// Those that KLTs which do work (Signals::of_its_work) do not take, one bit each. Also from a handler.
std::uint64_t signals_blocked_on_klts();

/// A KLT from start_klt() ends: it is no longer counted.
void note_klt_end();

/// In the child of a fork there are none.
void forget_klts();

/// Whether the main thread has ended, and the KLTs that weft has started are all that is left of the process. False
/// also where the kernel does not say.
bool only_own_klts_left();

/// What a KLT is doing, as the kernel sees it. `not_known`: it lives, but there is no /proc that tells of it: none, or
/// that of another PID namespace, or no file can be opened.
enum class KltActivity { runs, sleeps, gone, not_known };
/// `blocked`: which of the signals below the real-time ones it has blocked, as far as the kernel tells in the same
/// file; as before where it is not known.
KltActivity klt_activity(pid_t klt, std::uint64_t* blocked = nullptr);

/// Whether there is no KLT of this process with that number. Costs a system call; klt_activity() opens a file.
bool is_gone(pid_t klt);

/// Whether it has blocked the signal that interrupts; nothing: nobody knows.
std::optional<bool> has_interrupt_blocked(pid_t klt);

/// Whether it sleeps in a system call that goes on as if nothing had happened when a handler has run. False also where
/// the kernel does not say.
bool sleeps_restartably(pid_t klt);

/// How often the KLT has gone to sleep so far; nothing: that is not known.
std::optional<unsigned long> klt_sleeps(pid_t klt);

/// The kernel's number of the calling KLT. Also from handlers, without thread-local storage.
int this_klt();

/// From now on the calling KLT's sleeps with a limit end when that is reached, not up to 50 us later; not those of KLTs
/// that it starts. One KLT has that, the one that has called last.
void sleep_exactly();

/// Whether the calling KLT is nice to others (nice(2)). Does not touch errno.
bool is_of_low_priority();

/// The clock of the CPU time that a KLT of this process uses.
clockid_t cpu_clock_of(int klt);

/// The CPU time that a KLT of this process has used so far, in nanoseconds; 0 if it is gone.
unsigned long long klt_cpu_time(int klt);

}  // namespace weft::os
