// An io_uring of the process's, through liburing. One KLT, that which opens it, asks and waits; others may only
// ring_wake() it. What has been asked for belongs to that KLT: the kernel takes back what a KLT has asked for that
// ends, and interrupts a KLT to finish what it has asked for, even in another system call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/time_types.h>
#include <sys/socket.h>

namespace weft::os {

struct RingResult {
  void* token;
  int result;  // as of the system call: a count or a negative errno value
};

/// A time of os::now_ns(), as the ring wants it; has to stay where it is until the next ring_wait().
using RingTime = __kernel_timespec;
RingTime ring_time(std::uint64_t deadline_ns);

/// False: the kernel has no io_uring for us, or too old a one (before Linux 5.18).
bool ring_open();
/// In a forked child: it was the parent's.
void ring_abandon();

// From the next ring_wait() on, which says under the token what has become of it. A token is an address.
void ring_read(int file, void* to, std::size_t size, void* token);
void ring_write(int file, const void* from, std::size_t size, void* token);
void ring_accept(int socket, sockaddr* address, socklen_t* size, int flags, void* token);
void ring_connect(int socket, const sockaddr* address, socklen_t size, void* token);
void ring_poll(int file, short events, void* token);
void ring_timeout(RingTime* deadline, void* token);
/// What was asked for under that token comes back soon: -ECANCELED, -EINTR or what it has come to.
void ring_cancel(void* target);

/// Sleeps until something is there, or somebody wakes it.
unsigned ring_wait(RingResult* results, unsigned most);
/// Any KLT: the next ring_wait() returns, or the present one. False: the program has closed what that takes, and nobody
/// can wake that KLT any more; what it has been asked for comes back nevertheless.
[[nodiscard]] bool ring_wake();

}  // namespace weft::os
