#include "base/panic.h"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::base {
namespace {

Lines* collected = nullptr;

// A second descriptor of stderr, and the file that it was: the program may close all that it finds, and its number may
// be another file's by now.
int kept_stderr = -1;
struct stat kept_file;

bool is_kept() {
  struct stat now {};
  return kept_stderr >= 0 && fstat(kept_stderr, &now) == 0 && now.st_dev == kept_file.st_dev &&
         now.st_ino == kept_file.st_ino;
}

void write_out(const char* text, std::size_t length) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, length);
  if (written < 0 && errno == EBADF && is_kept()) written = write(kept_stderr, text, length);
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
    for (char* letter = text + prefix; letter != text + end; ++letter)
      if (static_cast<unsigned char>(*letter) < ' ') *letter = '?';  // one line, whatever a value holds
    text[end++] = '\n';
    length = static_cast<std::size_t>(end);
  }
};

void write_line(const char* format, va_list arguments) {
  const Line line(format, arguments);
  write_out(line.text, line.length);
}

}  // namespace

void keep_stderr() {
  constexpr int above_what_programs_count_on = 100;
  kept_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, above_what_programs_count_on);
  if (kept_stderr >= 0) fstat(kept_stderr, &kept_file);
}

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

namespace {

std::atomic<bool> ending{false};

}  // namespace

bool first_to_end() { return !ending.exchange(true); }

bool is_ending() { return ending.load(std::memory_order_relaxed); }

void panic(const char* format, ...) {
  while (!first_to_end()) ::pause();  // another thread ends the process, and says why
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  std::_Exit(EXIT_FAILURE);
}

void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(format, arguments);
  va_end(arguments);
  std::exit(EXIT_FAILURE);
}

}  // namespace weft::base
