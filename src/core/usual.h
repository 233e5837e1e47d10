// What the last unit was created with, so that the next one that is created with the same is not looked at again: one
// compare for all attributes. Only attributes for which nothing is to be done but to write what the unit begins with,
// and perhaps to bind its stack.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/unit.h"

namespace weft::core {

class Usual {
 public:
  /// Whether `attributes` are those of the last set().
  bool is(const void* attributes) const {
    const Vector others =
        differs(attributes, 0) | differs(attributes, 1) | differs(attributes, 2) | differs(attributes, 3);
    return (others[0] | others[1]) == 0;
  }
  void set(const void* attributes, const UnitStart& start) {
    std::memcpy(words_, attributes, size);
    start_ = start;
  }
  const UnitStart& start() const { return start_; }

  static constexpr std::size_t size = 64;

 private:
  using Vector [[gnu::vector_size(16)]] = std::uint64_t;

  Vector differs(const void* attributes, unsigned index) const {
    Vector given;
    std::memcpy(&given, static_cast<const char*>(attributes) + index * sizeof given, sizeof given);
    return given ^ words_[index];
  }

  Vector words_[size / sizeof(Vector)] = {{~0ULL, ~0ULL}};  // no attributes look like this
  UnitStart start_;
};

}  // namespace weft::core
