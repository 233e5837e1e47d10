// LLVM's entry point for the error directive at execution time.
#include <cstring>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/error_directive.h"
#include "faces/openmp/ompt/work.h"

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_error(Ident*, std::int32_t severity, const char* message) {
  const std::size_t length = message == nullptr ? 0 : std::strlen(message);
  if (ompt::watched)
    ompt::tell_error(WEFT_CALLER, severity == severity_fatal ? ompt::Severity::fatal : ompt::Severity::warning, message,
                     length);
  if (severity == severity_fatal) end_by_directive(message, length);
  warn_by_directive(message, length);
}
