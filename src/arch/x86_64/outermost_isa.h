// x86-64: see src/arch/outermost.h.
#pragma once

#define WEFT_ISA_NO_CALLER ".cfi_undefined rip"
#define WEFT_ISA_CALLER_AGAIN ".cfi_restore rip"
