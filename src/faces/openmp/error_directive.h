// What the error directive does at execution time (OpenMP 5.2, section 8.5).
#pragma once

#include <cstddef>

namespace weft::openmp {

/// One line; `message` nullptr: the directive has none.
void warn_by_directive(const char* message, std::size_t length);
/// The same, and the program ends.
[[noreturn]] void end_by_directive(const char* message, std::size_t length);

}  // namespace weft::openmp
