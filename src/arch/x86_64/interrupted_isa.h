// x86-64: see src/arch/interrupted.h.
#pragma once

#include <cstdint>
#include <ucontext.h>

namespace weft::arch {

inline std::uintptr_t isa_interrupted_instruction(const ucontext_t& context) {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}

}  // namespace weft::arch
