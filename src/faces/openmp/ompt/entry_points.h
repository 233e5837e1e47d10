// What a tool may ask of the runtime (OpenMP 5.1, section 4.6): found by name.
#pragma once

#include "faces/openmp/ompt/interface.h"

namespace weft::openmp::ompt {

/// ompt_function_lookup_t.
Function look_up(const char* name);

}  // namespace weft::openmp::ompt
