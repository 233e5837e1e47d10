#pragma once

#include <cstdint>

namespace weft::base {

/// Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4): the place of an address in a table of 2^bits.
inline unsigned place_of_address(std::uintptr_t address, unsigned bits) {
  return static_cast<unsigned>(address * 0x9E3779B97F4A7C15ULL >> (64U - bits));
}

inline unsigned place_of_address(const void* address, unsigned bits) {
  return place_of_address(reinterpret_cast<std::uintptr_t>(address), bits);
}

}  // namespace weft::base
