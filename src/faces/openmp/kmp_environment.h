// The variables of LLVM's and Intel's runtime, where the user has set them.
#pragma once

namespace weft::openmp {

/// After the others have been read (settings.h), which come before these. What is set and not used here is named in one
/// line.
void read_kmp_environment();

}  // namespace weft::openmp
