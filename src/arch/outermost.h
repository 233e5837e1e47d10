// A call that is outermost to whoever unwinds the stack, as that of a thread's function is.
#pragma once

#include "outermost_isa.h"

namespace weft::arch {

/// function(argument). Exceptions do not pass: one that leaves the function finds no handler, and ends the process
/// (std::terminate). No instruction more than the call: what says so is read by unwinders only.
[[gnu::always_inline]] inline void call_as_outermost(void (*function)(void*), void* argument) {
  asm volatile(WEFT_ISA_NO_CALLER : : : "memory");
  function(argument);
  asm volatile(WEFT_ISA_CALLER_AGAIN : : : "memory");
}

}  // namespace weft::arch
