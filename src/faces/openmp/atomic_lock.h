// The one lock behind atomic operations that no instruction can do: a type is larger than a word, or the compiler
// knows no better.
#pragma once

#include "core/sync/mutex.h"

namespace weft::openmp {

inline constinit core::Mutex atomic_lock;

}  // namespace weft::openmp
