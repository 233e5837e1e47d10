// The modes of floating-point arithmetic, which belong to a flow of control.
#pragma once

#include <cstdint>

#include "fp_control_isa.h"

/// The floating-point control words: mxcsr, and 32 bits higher the x87 control word.
using weft_fp_control = std::uint64_t;

namespace weft::arch {

/// Those in force. Dear (context.S).
inline weft_fp_control fp_control() { return isa_fp_control(); }

/// Makes both what `words` says.
inline void load_fp_control(weft_fp_control words) { isa_load_fp_control(words); }

/// Whether they ask for the same: mxcsr also says, in its lowest bits, which exceptions have been.
inline bool have_same_modes(weft_fp_control one, weft_fp_control other) {
  constexpr weft_fp_control exceptions = 0x3f;
  return ((one ^ other) & ~exceptions) == 0;
}

}  // namespace weft::arch
