// The variables of LLVM's and Intel's runtime, where the user has set them.
#pragma once

namespace weft::openmp {

/// After the others have been read (settings.h), which come before these. What is set and not used here is named in one
/// line.
void read_kmp_environment();

/// Sets one of those variables when the library has been loaded. One line says so where it comes too late, or makes no
/// sense. False: it is none of them.
bool set_kmp_variable_later(const char* name, const char* text, bool before_regions);

}  // namespace weft::openmp
