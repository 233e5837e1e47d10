// Small things that every ISA has and C++ has not. Implemented in src/arch/<isa>/cpu_isa.h.
#pragma once

#include "cpu_isa.h"  // found through the include path of the ISA that is built

namespace weft::arch {

/// Tells the core that this is a waiting loop.
inline void relax() { isa_relax(); }

/// A cheap clock of constant rate, in units of its own, for deciding how long to wait.
inline unsigned long long ticks() { return isa_ticks(); }

/// The stack pointer of the caller.
inline void* stack_pointer() { return isa_stack_pointer(); }

}  // namespace weft::arch
