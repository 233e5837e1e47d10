#include "base/panic.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace weft::base {
namespace {

void write_line(const char* format, va_list arguments) {
  char line[1024] = "weft: ";
  constexpr int prefix = 6;
  int length = vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
  if (length < 0) return;
  length += prefix;
  if (length > static_cast<int>(sizeof line) - 2) length = static_cast<int>(sizeof line) - 2;
  line[length++] = '\n';
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, line, static_cast<size_t>(length));
}

}  // namespace

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
}

bool first_to_end() {
  static std::atomic<bool> ending{false};
  return !ending.exchange(true);
}

void panic(const char* format, ...) {
  while (!first_to_end()) ::pause();  // another thread ends the process, and says why
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace weft::base
