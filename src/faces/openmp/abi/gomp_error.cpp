// GCC's entry points for the error directive at execution time.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/error_directive.h"
#include "faces/openmp/ompt/work.h"

using namespace weft::openmp;

WEFT_EXPORT void GOMP_warning(const char* message, std::size_t length) {
  if (ompt::watched) ompt::tell_error(WEFT_CALLER, ompt::Severity::warning, message, length);
  warn_by_directive(message, length);
}
WEFT_EXPORT [[noreturn]] void GOMP_error(const char* message, std::size_t length) {
  if (ompt::watched) ompt::tell_error(WEFT_CALLER, ompt::Severity::fatal, message, length);
  end_by_directive(message, length);
}
