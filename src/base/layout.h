// Sizes that decide how data is laid out.
#pragma once

#include <cstddef>

namespace weft::base {

/// Bytes that move between cores as one. Data of different writers is kept this far apart.
inline constexpr std::size_t cache_line = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace weft::base
