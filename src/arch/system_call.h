// System calls without libc: for code that runs where errno is not its own (a lender on a thread
// pointer that it has lent, the change of the thread pointer itself).
#pragma once

#include "system_call_isa.h"

namespace weft::arch {

/// The kernel's answer; errors are small negative numbers.
inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  return isa_system_call(number, a, b, c, d, e, f);
}

}  // namespace weft::arch
