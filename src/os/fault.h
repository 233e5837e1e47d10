// Stack overflow: found by the guard below each stack, told in one line.
#pragma once

#include <cstddef>

namespace weft::os {

/// Called inside the signal handler with the address that faulted: whether it lies in the guard of
/// a stack of weft's, and if so, prints the line that says so. Must be async-signal-safe.
using OverflowReporter = bool (*)(void* address);

/// Installs the SIGSEGV and SIGBUS handler, in front of whatever the program has installed: every
/// fault that is not an overflow of a weft stack goes on to that, as if weft were not there. A
/// program that installs its own handler afterwards replaces this one.
void watch_for_stack_overflow(OverflowReporter reporter);

/// Gives the calling KLT an alternate signal stack if it has none, since a handler cannot run on
/// the stack that overflowed. Returns its memory (nullptr: it had one, or there is no memory).
void* provide_signal_stack();

/// Takes it back before the KLT ends.
void withdraw_signal_stack(void* memory);

}  // namespace weft::os
