#include "faces/openmp/error_directive.h"

#include <cstdlib>

#include "base/panic.h"

namespace weft::openmp {
namespace {

void report(const char* severity, const char* message, std::size_t length) {
  if (message == nullptr)
    base::warn("%serror directive encountered", severity);
  else
    base::warn("%serror directive encountered: %.*s", severity, static_cast<int>(length), message);
}

}  // namespace

void warn_by_directive(const char* message, std::size_t length) { report("", message, length); }

// exit(), not an abrupt end: it is the program that wants to stop, and what it has printed must be seen.
void end_by_directive(const char* message, std::size_t length) {
  report("fatal error: ", message, length);
  exit(EXIT_FAILURE);
}

}  // namespace weft::openmp
