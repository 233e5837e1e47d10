// GCC's entry points for the error directive at execution time.
#include <cstdint>
#include <cstring>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/error_directive.h"
#include "faces/openmp/ompt/work.h"

namespace weft::openmp {
namespace {

// In C and C++ the compiler does not say how long the message is. (Bug: a tool was told SIZE_MAX.)
std::size_t length_of(const char* message, std::size_t stated) {
  if (message == nullptr) return 0;
  return stated != SIZE_MAX ? stated : std::strlen(message);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void GOMP_warning(const char* message, std::size_t stated) {
  const std::size_t length = length_of(message, stated);
  if (ompt::watched) ompt::tell_error(WEFT_CALLER, ompt::Severity::warning, message, length);
  warn_by_directive(message, length);
}
WEFT_EXPORT [[noreturn]] void GOMP_error(const char* message, std::size_t stated) {
  const std::size_t length = length_of(message, stated);
  if (ompt::watched) ompt::tell_error(WEFT_CALLER, ompt::Severity::fatal, message, length);
  end_by_directive(message, length);
}
