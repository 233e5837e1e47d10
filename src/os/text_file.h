// Small files that the kernel writes for us to read.
#pragma once

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "arch/system_call.h"

namespace weft::os {

/// Reads a file, as far as it goes into `text`, and ends it with a 0; returns its length, or -1. No stdio: this runs
/// while a library loads. Nor libc's open() and its like: they are cancellation points, and the thread of the program's
/// that comes here may have been cancelled, which does not concern it before its next one. (Bug: it was unwound in the
/// midst of weft's start, for which all others waited then.) Leaves errno as it is; also for handlers.
template <std::size_t size>
ssize_t read_file(const char* path, char (&text)[size]) {
  const auto again = [](auto call) {
    long result = call();
    while (result == -EINTR) result = call();
    return result;
  };
  const auto address = [](const void* of) { return reinterpret_cast<long>(of); };
  const long file = again([&] { return arch::system_call(SYS_openat, AT_FDCWD, address(path), O_RDONLY | O_CLOEXEC); });
  if (file < 0) return -1;
  const long length = again([&] { return arch::system_call(SYS_read, file, address(text), size - 1); });
  arch::system_call(SYS_close, file);  // not again: the number may be another file's by then
  if (length < 0) return -1;
  text[length] = '\0';
  return length;
}

}  // namespace weft::os
