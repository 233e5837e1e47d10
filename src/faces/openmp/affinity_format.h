// affinity-format-var and the text made from it (OpenMP 5.2, sections 21.2.5 and 18.3.7-18.3.10).
#pragma once

#include <cstddef>

#include "faces/openmp/dialect.h"

namespace weft::openmp {

/// Text written into a buffer that may be too short: what does not fit is only counted.
class BoundedText {
 public:
  BoundedText(char* buffer, std::size_t size) : buffer_(buffer), size_(size) {}

  void put(char letter);
  void put(const char* text, std::size_t length);
  void repeat(char letter, std::size_t count);
  /// The length of the whole text, whether it fitted or not.
  std::size_t length() const { return length_; }
  /// As C wants it: cut to size - 1 and ended by a NUL; nothing if the size is 0.
  void terminate();
  /// As Fortran wants it: blanks up to the size.
  void pad();

 private:
  char* buffer_;
  std::size_t size_;
  std::size_t length_ = 0;
};

void set_affinity_format(const char* format, std::size_t length);
void set_affinity_format(const char* format);  // a C string
/// Whether each of its fields is known.
bool is_affinity_format(const char* format);

/// Writes affinity-format-var; until it is set, the default of that runtime.
void write_affinity_format(Dialect dialect, BoundedText& text);

/// The same into a C string. Returns the length of the whole format.
std::size_t get_affinity_format(Dialect dialect, char* buffer, std::size_t size);

/// Writes what the format says of the calling thread; affinity-format-var if the format is empty. A field that is not
/// known becomes "undefined" (OpenMP 5.2, section 21.2.5).
void write_affinity(Dialect dialect, BoundedText& text, const char* format, std::size_t length);

/// What write_affinity() writes, as one line where the runtime writes it: libgomp's on stderr, LLVM's on stdout.
void display_affinity(Dialect dialect, const char* format, std::size_t length);

/// The two for C: nullptr is an empty format. The first writes a C string, and returns the length of the whole text.
std::size_t capture_affinity(Dialect dialect, char* buffer, std::size_t size, const char* format);
void display_affinity(Dialect dialect, const char* format);

/// In a forked child.
void reset_affinity_format();

}  // namespace weft::openmp
