// Small files that the kernel writes for us to read.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "arch/system_call.h"

namespace weft::os {

namespace text_file {

template <class Call>
long again(Call call) {
  long result = call();
  while (result == -EINTR) result = call();
  return result;
}

inline long open(const char* path) {
  return again(
      [path] { return arch::system_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC); });
}

inline long read(long file, char* to, std::size_t size) {
  return again([=] { return arch::system_call(SYS_read, file, reinterpret_cast<long>(to), static_cast<long>(size)); });
}

// Not again: the number may be another file's by then.
inline void close(long file) { arch::system_call(SYS_close, file); }

}  // namespace text_file

/// Reads a file, as far as it goes into `text`, and ends it with a 0; returns its length, or -1. No stdio: this runs
/// while a library loads. Nor libc's open() and its like: they are cancellation points, and the thread of the program's
/// that comes here may have been cancelled, which does not concern it before its next one. (Bug: it was unwound in the
/// midst of weft's start, for which all others waited then.) Leaves errno as it is; also for handlers.
template <std::size_t size>
ssize_t read_file(const char* path, char (&text)[size]) {
  const long file = text_file::open(path);
  if (file < 0) return -1;
  const long length = text_file::read(file, text, size - 1);
  text_file::close(file);
  if (length < 0) return -1;
  text[length] = '\0';
  return length;
}

/// The same for a file of any length: `goes_on(line)` says whether the next one is wanted. Lines longer than 4 KiB are
/// passed over. False: it cannot be read.
template <class GoesOn>
bool read_lines(const char* path, GoesOn goes_on) {
  const long file = text_file::open(path);
  if (file < 0) return false;
  char text[4096];
  std::size_t length = 0;
  bool is_rest = false;  // what comes, of a line that is too long
  bool more = true;
  long count = 0;
  while (more && (count = text_file::read(file, text + length, sizeof text - length)) > 0) {
    length += static_cast<std::size_t>(count);
    char* line = text;
    while (more) {
      auto end = static_cast<char*>(memchr(line, '\n', static_cast<std::size_t>(text + length - line)));
      if (end == nullptr) break;
      *end = '\0';
      more = is_rest || goes_on(static_cast<const char*>(line));
      is_rest = false;
      line = end + 1;
    }
    length -= static_cast<std::size_t>(line - text);
    memmove(text, line, length);
    if (length != sizeof text) continue;
    is_rest = true;
    length = 0;
  }
  text_file::close(file);
  return count >= 0;
}

}  // namespace weft::os
