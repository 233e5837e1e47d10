// Where the kernel has given no thread (ulimit -u, pids.max), there may be some again: who wants one asks again, but
// not each time that it comes by.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/clock.h"

namespace weft::core {

class Refusal {
 public:
  void note() { at_.store(os::now_ns(), std::memory_order_relaxed); }
  bool is_recent() const {
    constexpr std::uint64_t between_tries_ns = 10ULL * 1000 * 1000;
    const std::uint64_t at = at_.load(std::memory_order_relaxed);
    return at != never && os::now_ns() - at < between_tries_ns;
  }
  /// In a forked child.
  void forget() { at_.store(never, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t never = 0;
  std::atomic<std::uint64_t> at_{never};
};

}  // namespace weft::core
