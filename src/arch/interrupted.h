// What a signal interrupted.
#pragma once

#include "interrupted_isa.h"

namespace weft::arch {

/// The address of the instruction that would have come next.
inline std::uintptr_t interrupted_instruction(const ucontext_t& context) {
  return isa_interrupted_instruction(context);
}

/// The number of the system call that comes next: it was interrupted, and begins anew. -1: none does.
inline long system_call_to_be_made(const ucontext_t& context) { return isa_system_call_to_be_made(context); }

/// Whether a system call has just returned EINTR.
inline bool system_call_was_cut_short(const ucontext_t& context) { return isa_system_call_was_cut_short(context); }

}  // namespace weft::arch
