// What a signal interrupted.
#pragma once

#include "interrupted_isa.h"

namespace weft::arch {

/// The address of the instruction that would have come next.
inline std::uintptr_t interrupted_instruction(const ucontext_t& context) {
  return isa_interrupted_instruction(context);
}

}  // namespace weft::arch
