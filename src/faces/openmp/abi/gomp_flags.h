// The flags that GCC's entry points for parallel have in common.
#pragma once

#include "faces/openmp/placement.h"

namespace weft::openmp {

/// The proc_bind clause stands in the lowest bits, as omp_proc_bind_t numbers it.
inline void note_proc_bind(unsigned flags) {
  constexpr unsigned proc_bind_mask = 7;
  if ((flags & proc_bind_mask) != 0) push_proc_bind(flags & proc_bind_mask);
}

}  // namespace weft::openmp
