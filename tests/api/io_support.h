// What the tests of input and output share: descriptors that are closed with what has them.
#pragma once

#include <cstdint>
#include <ctime>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

namespace weft::test {

inline constexpr std::uint64_t millisecond = 1000 * 1000;

/// Two descriptors that are closed with it.
struct Pair {
  int first = -1;
  int second = -1;
  Pair() = default;
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    if (first >= 0) close(first);
    if (second >= 0) close(second);
  }
};

struct Pipe : Pair {
  Pipe() {
    int both[2];
    if (pipe2(both, O_CLOEXEC) == 0) first = both[0], second = both[1];
  }
};

struct Sockets : Pair {
  explicit Sockets(int flags = 0) {
    int both[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | flags, 0, both) == 0) first = both[0], second = both[1];
  }
};

/// Nobody uses the CPU while units wait.
inline void expect_no_cpu_used() {
  const auto cpu_time = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1000000000U + static_cast<std::uint64_t>(used.tv_nsec);
  };
  // Who spins does so in each window; on a busy machine something ends late now and then.
  constexpr std::uint64_t most = 100 * millisecond;
  std::uint64_t used_when_idle = most;
  for (int window = 0; window < 10 && used_when_idle >= most; ++window) {
    const std::uint64_t before = cpu_time();
    weft_sleep(300 * millisecond);
    used_when_idle = cpu_time() - before;
  }
  EXPECT_LT(used_when_idle, most);
}

}  // namespace weft::test
