// Stack overflow: found by the guard below each stack, told in one line. And code on a stack that is not executable
// yet.
#pragma once

#include <cstddef>

namespace weft::os {

/// Called inside the signal handler with the address that faulted: whether it lies in the guard of
/// a stack of weft's, and if so, prints the line that says so. `may_go_on`: the program's handler comes next, and may
/// leave by siglongjmp(); else the process ends. Must be async-signal-safe.
using OverflowReporter = bool (*)(void* address, bool may_go_on);

/// Called there, too, with the address of an instruction that must not be executed: true if it may be from now on.
using ExecutionAllower = bool (*)(void* instruction);

/// Installs the SIGSEGV and SIGBUS handler, in front of whatever the program has installed: every
/// fault that is neither an overflow of a weft stack nor code there that may be executed goes on to that, with its
/// flags, as if weft were not there. A program that installs its own handler afterwards replaces this one.
void watch_for_faults(OverflowReporter reporter, ExecutionAllower allower);

/// Gives the calling KLT an alternate signal stack if it has none, since a handler cannot run on
/// the stack that overflowed; with a guard below. Returns what to withdraw (nullptr: it had one, or there is no
/// memory).
void* provide_signal_stack();

/// Takes it back, by the KLT itself, before that ends.
void withdraw_signal_stack(void* stack);

}  // namespace weft::os
