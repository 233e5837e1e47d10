// x86-64: see src/arch/jump.h.
#pragma once

#define WEFT_ISA_JUMP "jmp"
