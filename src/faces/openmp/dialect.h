// The runtime that a program was built for, where the two differ in what a program sees.
#pragma once

#include <cstdint>

namespace weft::openmp {

enum class Dialect : std::uint8_t { gnu, llvm };

}  // namespace weft::openmp
