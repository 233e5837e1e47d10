// Input and output for units: what would sleep in the kernel suspends the unit instead. The argument stands at the head
// of io.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <poll.h>
#include <sys/socket.h>

#include "core/timer.h"

namespace weft::core {

/// How it has ended: `count` is what the system call answers, if `error` is 0; else that is an errno value, or one of
/// these.
struct IoResult {
  static constexpr int timed_out = -1;
  static constexpr int no_klt = -2;  // none can be had that would do it
  static constexpr int no_memory = -3;
  int error = 0;
  std::size_t count = 0;
};

// Each waits until it is done, or the deadline has passed: in any unit that may wait. A deadline of 0 never waits.
// O_NONBLOCK makes no difference. Nobody is interrupted (EINTR), and no SIGPIPE is raised.

/// What there is, but at least a byte, or the end.
IoResult read(int file, void* to, std::size_t size, std::uint64_t deadline);
/// All of it; or less, where it could not be finished.
IoResult write(int file, const void* from, std::size_t size, std::uint64_t deadline);
/// The connection's file is `count`.
IoResult accept(int socket, sockaddr* address, socklen_t* size, int flags, std::uint64_t deadline);
IoResult connect(int socket, const sockaddr* address, socklen_t size, std::uint64_t deadline);
/// Until some of them are ready: `count` of them, as poll(2) says; 0 when the deadline has passed.
IoResult poll(pollfd* files, std::size_t count, std::uint64_t deadline);

/// Whether an io_uring serves it; else KLTs that wait in system calls. Starts it if nobody has; `no_klt`: neither can.
enum class IoServer : std::uint8_t { ring, klts, none };
IoServer io_server();

}  // namespace weft::core
