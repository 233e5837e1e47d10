#include "faces/openmp/ompt/init_log.h"

#include <cstdarg>
#include <cstdlib>
#include <strings.h>

#include "base/panic.h"

namespace weft::openmp::ompt {
namespace {

const char* wanted_place() {
  const char* text = std::getenv("OMP_TOOL_VERBOSE_INIT");
  return text == nullptr || *text == '\0' || strcasecmp(text, "disabled") == 0 ? nullptr : text;
}

}  // namespace

bool InitLog::is_wanted() { return wanted_place() != nullptr; }

InitLog::InitLog() {
  const char* place = wanted_place();
  if (place == nullptr) return;
  if (strcasecmp(place, "stdout") == 0) {
    file_ = stdout;
  } else if (strcasecmp(place, "stderr") == 0) {
    file_ = stderr;
  } else {
    file_ = std::fopen(place, "w");
    closes_ = file_ != nullptr;
    if (file_ == nullptr)
      base::warn(
          "OMP_TOOL_VERBOSE_INIT=%s: expected disabled, stdout, stderr or a file that can be written; nothing is "
          "logged",
          place);
  }
}

InitLog::~InitLog() {
  if (closes_) std::fclose(file_);
}

// Flushed: a tool's own lines come between.
void InitLog::add(const char* format, ...) {
  if (file_ == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(file_, format, arguments);
  va_end(arguments);
  std::fflush(file_);
}

}  // namespace weft::openmp::ompt
