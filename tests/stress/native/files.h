// Two ends of a pipe, or of a pair of sockets.
#pragma once

#include "random.h"

#include <cstddef>
#include <cstdint>

namespace native {

class FilePair {
 public:
  /// Of any kind, with little room between, perhaps with O_NONBLOCK. Not if the process has no numbers left for it.
  explicit FilePair(Random& random);
  ~FilePair();
  FilePair(const FilePair&) = delete;
  FilePair& operator=(const FilePair&) = delete;

  bool is_open() const { return reader >= 0; }
  /// Nobody waits there.
  void close_writer();

  int reader = -1;
  int writer = -1;
  bool sockets = false;
};

struct Actor;
/// What comes next, as much of it as there is; 0 only at the end.
std::size_t read_some(Actor& actor, int file, std::uint8_t* to, std::size_t size);

/// Of a stream that follows from a seed.
inline std::uint8_t byte_of(std::uint64_t seed, std::size_t offset) {
  return static_cast<std::uint8_t>(mix(offset / 8, seed) >> (offset % 8 * 8));
}

}  // namespace native
