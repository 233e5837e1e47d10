// Time, for deciding how long to wait.
#pragma once

#include <cstdint>
#include <ctime>

namespace weft::os {

/// Nanoseconds of CLOCK_MONOTONIC.
inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ULL + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace weft::os
