// A pause that a worker makes between two tries of something that has been in vain, longer from time to time. Times are
// of any clock, the same one for all calls.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::core {

template <std::uint64_t shortest, std::uint64_t longest>
class GrowingPause {
 public:
  /// Once more in vain: it begins, and is twice as long as the last one.
  void begin(std::uint64_t now) {
    length_ = length_ == 0 ? shortest : std::min(2 * length_, longest);
    end_ = now + length_;
  }

  /// It was not in vain: the next one is as short as the first.
  void forget() { length_ = 0; }

  /// Whether there is one, over or not.
  bool exists() const { return length_ != 0; }
  /// Whether it is over, or there is none.
  bool is_over(std::uint64_t now) const { return length_ == 0 || now >= end_; }
  /// The next try may be at once.
  void end() { end_ = 0; }

 private:
  std::uint64_t length_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace weft::core
