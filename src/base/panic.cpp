#include "base/panic.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace weft::base {
namespace {

Lines* collected = nullptr;

void write_out(const char* text, std::size_t length) {
  [[maybe_unused]] ssize_t ignored = write(STDERR_FILENO, text, length);
}

struct Line {
  char text[1024] = "weft: ";
  std::size_t length = 0;

  Line(const char* format, va_list arguments) {
    constexpr int prefix = 6;
    int end = vsnprintf(text + prefix, sizeof text - prefix - 1, format, arguments);
    if (end < 0) return;
    end += prefix;
    if (end > static_cast<int>(sizeof text) - 2) end = static_cast<int>(sizeof text) - 2;
    text[end++] = '\n';
    length = static_cast<std::size_t>(end);
  }
};

}  // namespace

void Lines::add(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const Line line(format, arguments);
  va_end(arguments);
  append(line.text, line.length);
}

void Lines::append(const char* line, std::size_t length) {
  if (length > capacity - length_) write();
  memcpy(text_ + length_, line, length);
  length_ += length;
}

void Lines::write() {
  if (length_ != 0) write_out(text_, length_);
  length_ = 0;
}

void collect_warnings(Lines* lines) { collected = lines; }

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const Line line(format, arguments);
  va_end(arguments);
  if (collected != nullptr)
    collected->append(line.text, line.length);
  else
    write_out(line.text, line.length);
}

bool first_to_end() {
  static std::atomic<bool> ending{false};
  return !ending.exchange(true);
}

void panic(const char* format, ...) {
  while (!first_to_end()) ::pause();  // another thread ends the process, and says why
  va_list arguments;
  va_start(arguments, format);
  const Line line(format, arguments);
  va_end(arguments);
  write_out(line.text, line.length);
  std::_Exit(EXIT_FAILURE);
}

}  // namespace weft::base
