// Input and output by bare system calls: each answers as the kernel does, a count or a negative errno value, and none
// touches errno, which need not be the caller's own after a wait. None raises SIGPIPE.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <poll.h>
#include <sys/socket.h>

namespace weft::os {

/// The most that one call of the kernel's transfers.
inline constexpr std::size_t most_transferred = 0x7ffff000;

/// Without waiting, whether O_NONBLOCK is set or not: -EAGAIN.
long read_now(int file, void* to, std::size_t size);
long write_now(int file, const void* from, std::size_t size);
/// The answer of one of these: this file does not know how to do without waiting.
inline bool cannot_tell(long answer) { return answer == -EOPNOTSUPP || answer == -ENOSYS; }

/// The same where these cannot tell, for pipes (before Linux 6.5), terminals and eventfds that poll(2) says are ready,
/// and so that nobody else who has the file sees anything of that; of others cannot_tell() is true.
long read_by_kind_now(int file, void* to, std::size_t size);
long write_by_kind_now(int file, const void* from, std::size_t size);

/// These wait.
long read_file(int file, void* to, std::size_t size);
long write_file(int file, const void* from, std::size_t size);
long accept_connection(int socket, sockaddr* address, socklen_t* size, int flags);
long connect_socket(int socket, const sockaddr* address, socklen_t size);

/// Until one is ready, or `deadline_ns` of os::now_ns() has passed (UINT64_MAX: for ever; 0: looks once). The number of
/// those that are ready.
long poll_files(pollfd* files, std::size_t count, std::uint64_t deadline_ns);

/// What has become of a connection that was begun: 0, or a negative errno value.
long outcome_of_connecting(int socket);

bool is_unix_socket(int file);

/// Whether O_NONBLOCK is set, and sets it, for all who have the file; or a negative errno value.
long is_nonblocking(int file);
void set_nonblocking(int file, bool nonblocking);

/// What tells a file from others that get its number: exact for sockets and pipes; a terminal or a file on a disk that
/// is opened twice is one, and so are all that only the kernel has an inode for (eventfds, timers). Empty: there is no
/// file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity& other) const { return device == other.device && inode == other.inode; }
};
FileIdentity identity_of(int file);

/// A terminal, or another that is read and written byte by byte.
bool is_device(int file);

/// Whether read_now() may have read less than there is: of a file on a disk, what was in memory.
bool lies_on_disk(int file);

}  // namespace weft::os
