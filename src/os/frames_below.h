// By what the running code, or interrupted code, has been called, as far as its stack tells: a handler of the
// program's, which has interrupted who knows what; or a function of the dynamic linker's that holds a lock meanwhile.
// Also from the handler of weft's signal.
#pragma once

#include <cstdint>
#include <ucontext.h>

#include "os/signal_mask.h"

namespace weft::os {

/// end_of_frames(stack pointer): one past the frames on that stack, behind which is somebody else's memory;
/// UINTPTR_MAX: not known. Before it is said, nothing is.
void bound_frames_by(std::uintptr_t (*end_of_frames)(std::uintptr_t stack));

/// The signals that were blocked where a handler has interrupted.
SignalMask blocked_in(const ucontext_t& interrupted);

/// Of interrupted code.
bool runs_in_handler(const ucontext_t& interrupted);
bool runs_under_lock_of_linker(std::uintptr_t stack);

/// Whether the caller runs in a handler of the program's, as far as blocked signals tell. A system call.
bool in_handler_of_program();

/// Whether the caller has been called by dl_iterate_phdr(), which holds a lock of the dynamic linker's.
bool called_under_lock_of_linker();

}  // namespace weft::os
