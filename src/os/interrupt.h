// Interrupting what a KLT runs, so that it can be left in the middle (rung 4, by signal).
//
// The signal's handler runs on the stack of the interrupted code and may switch away from it; when
// that flow of control is resumed, on whichever KLT, the handler returns into the interrupted code
// with all registers as the kernel saved them. Three things make this safe:
//   - Code that must not be left is not: the handler looks at the interrupted instruction, and does
//     nothing if it lies in libc, the dynamic linker, the C++ runtime, or the library that contains
//     weft itself. (Locks inside malloc or stdio would otherwise be held by something that waits.)
//   - The signal is unblocked before the code is left, so any number of units can be left so; and it is
//     never sent again before the last one arrived (real-time signals queue up).
//   - What the kernel restores on return belongs to a KLT, not to the code: signal mask and
//     alternate stack are set to those of the KLT that returns.
// Callers interrupt only a KLT that runs: a system call that sleeps is not to be cut short.
#pragma once

#include <sys/types.h>

namespace weft::os {

/// Installs the handler on a free real-time signal. On the interrupted KLT, `arrived` is called first,
/// wherever it was, then `leave` if it may be left. False: every such signal is in use by the program.
bool install_interrupt(void (*arrived)(), void (*leave)());

/// The signal in use, 0 if none: KLTs of weft's must not block it.
int interrupt_signal();

/// Finds out anew which code is not to be left (libraries come and go). Not from the handler.
void refresh_code_not_to_leave();

/// What a KLT is doing, as the kernel sees it.
enum class KltActivity { runs, sleeps, gone };
KltActivity klt_activity(pid_t klt);

/// Sends the signal to the KLT.
bool interrupt(pid_t klt);

}  // namespace weft::os
