// OMP_ALLOCATOR (OpenMP 5.2, section 21.5.1).
#pragma once

#include "base/environment.h"
#include "faces/openmp/allocator.h"

namespace weft::openmp {

/// A predefined allocator, or a memory space with traits. False, and nothing is made, unless the whole value makes
/// sense.
bool read_allocator(base::ValueReader& value, AllocatorHandle& handle);

}  // namespace weft::openmp
