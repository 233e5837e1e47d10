// x86-64: see src/arch/cpu.h.
#pragma once

namespace weft::arch {

inline void isa_relax() { __builtin_ia32_pause(); }

inline unsigned long long isa_ticks() { return __builtin_ia32_rdtsc(); }

inline void* isa_stack_pointer() {
  void* pointer;
  asm volatile("movq %%rsp, %0" : "=r"(pointer));
  return pointer;
}

}  // namespace weft::arch
