// GCC's entry points for the error directive at execution time (OpenMP 5.2, section 8.5).
#include <cstddef>
#include <cstdlib>

#include "base/panic.h"
#include "faces/openmp/abi/export.h"

namespace weft::openmp {
namespace {

void report(const char* severity, const char* message, std::size_t length) {
  if (message == nullptr)
    base::warn("%serror directive encountered", severity);
  else
    base::warn("%serror directive encountered: %.*s", severity, static_cast<int>(length), message);
}

}  // namespace

WEFT_EXPORT void GOMP_warning(const char* message, std::size_t length) { report("", message, length); }

/// exit(), not an abrupt end: it is the program that wants to stop, and what it has printed must be seen.
WEFT_EXPORT [[noreturn]] void GOMP_error(const char* message, std::size_t length) {
  report("fatal error: ", message, length);
  exit(EXIT_FAILURE);
}

}  // namespace weft::openmp
