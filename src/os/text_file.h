// Small files that the kernel writes for us to read.
#pragma once

#include <cstddef>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace weft::os {

/// Reads a file, as far as it goes into `text`, and ends it with a 0; returns its length, or -1. No stdio: this runs
/// while a library loads.
template <std::size_t size>
ssize_t read_file(const char* path, char (&text)[size]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, size - 1);
  close(file);
  if (length >= 0) text[length] = '\0';
  return length;
}

}  // namespace weft::os
