// x86-64: see src/arch/fp_control.h.
#pragma once

#include <cstdint>

namespace weft::arch {

inline std::uint64_t isa_fp_control() {
  std::uint32_t mxcsr;
  std::uint16_t x87;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
  return mxcsr | std::uint64_t{x87} << 32U;
}

// fldcw is dear, and hardly ever changes anything.
inline void isa_load_fp_control(std::uint64_t words) {
  const auto mxcsr = static_cast<std::uint32_t>(words);
  const auto x87 = static_cast<std::uint16_t>(words >> 32U);
  std::uint16_t now;
  asm volatile("ldmxcsr %1\n\tfnstcw %0" : "=m"(now) : "m"(mxcsr) : "memory");
  if (now != x87) [[unlikely]] {
    asm volatile("fldcw %0" : : "m"(x87) : "memory");
  }
}

}  // namespace weft::arch
