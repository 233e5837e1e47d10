#include "os/io.h"

#include <climits>
#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "arch/system_call.h"
#include "os/clock.h"
#include "os/signal_mask.h"

namespace weft::os {
namespace {

constexpr long current_position = -1;
constexpr long no_wait = 0x8;  // RWF_NOWAIT

template <class T>
long address_of(T* object) {
  return reinterpret_cast<long>(object);
}

std::size_t cut(std::size_t size) { return size < most_transferred ? size : most_transferred; }

iovec one_piece(const void* address, std::size_t size) { return {const_cast<void*>(address), cut(size)}; }

// SIGPIPE comes to the KLT that writes, and before the call returns; so it can be taken back here. If one of the
// program's was pending on this KLT the kernel has made one of both: that is given back.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    arch::system_call(SYS_rt_sigprocmask, SIG_BLOCK, address_of(&mine_), address_of(&before_), kernel_set_bytes);
    was_pending_ = (before_ & mine_) != 0 && is_pending();  // else it would have come
  }
  ~WithoutSigpipe() { arch::system_call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&before_), 0, kernel_set_bytes); }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

  long taken_back(long answer) const {
    if (answer != -EPIPE) return answer;
    const timespec at_once{};
    arch::system_call(SYS_rt_sigtimedwait, address_of(&mine_), 0, address_of(&at_once), kernel_set_bytes);
    if (was_pending_ && !is_pending())
      arch::system_call(SYS_tgkill, arch::system_call(SYS_getpid), arch::system_call(SYS_gettid), SIGPIPE);
    return answer;
  }

 private:
  bool is_pending() const {
    std::uint64_t pending = 0;
    arch::system_call(SYS_rt_sigpending, address_of(&pending), kernel_set_bytes);
    return (pending & mine_) != 0;
  }

  std::uint64_t mine_ = std::uint64_t{1} << (SIGPIPE - 1U);
  std::uint64_t before_ = 0;
  bool was_pending_ = false;
};

// -ENOTSOCK: it is no socket.
long send_some(int socket, const void* from, std::size_t size, int flags) {
  return arch::system_call(SYS_sendto, socket, address_of(from), static_cast<long>(cut(size)), flags | MSG_NOSIGNAL);
}

// All zero: there is no file.
struct stat status_of(int file) {
  struct stat status {};
  arch::system_call(SYS_fstat, file, address_of(&status));
  return status;
}

}  // namespace

long read_now(int file, void* to, std::size_t size) {
  iovec piece = one_piece(to, size);
  return arch::system_call(SYS_preadv2, file, address_of(&piece), 1, current_position, 0, no_wait);
}

long write_now(int file, const void* from, std::size_t size) {
  if (const long sent = send_some(file, from, size, MSG_DONTWAIT); sent != -ENOTSOCK) return sent;
  iovec piece = one_piece(from, size);
  const WithoutSigpipe without;
  return without.taken_back(arch::system_call(SYS_pwritev2, file, address_of(&piece), 1, current_position, 0, no_wait));
}

long read_file(int file, void* to, std::size_t size) {
  return arch::system_call(SYS_read, file, address_of(to), static_cast<long>(cut(size)));
}

long write_file(int file, const void* from, std::size_t size) {
  if (const long sent = send_some(file, from, size, 0); sent != -ENOTSOCK) return sent;
  const WithoutSigpipe without;
  return without.taken_back(arch::system_call(SYS_write, file, address_of(from), static_cast<long>(cut(size))));
}

long accept_connection(int socket, sockaddr* address, socklen_t* size, int flags) {
  return arch::system_call(SYS_accept4, socket, address_of(address), address_of(size), flags);
}

long connect_socket(int socket, const sockaddr* address, socklen_t size) {
  return arch::system_call(SYS_connect, socket, address_of(address), static_cast<long>(size));
}

long poll_files(pollfd* files, std::size_t count, std::uint64_t deadline_ns) {
  timespec left{};
  const bool for_ever = deadline_ns == UINT64_MAX;
  if (deadline_ns != 0 && !for_ever)
    if (const std::uint64_t now = now_ns(); now < deadline_ns) left = to_timespec(deadline_ns - now);
  return arch::system_call(SYS_ppoll, address_of(files), static_cast<long>(count), for_ever ? 0 : address_of(&left), 0,
                           kernel_set_bytes);
}

long outcome_of_connecting(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  const long answer =
      arch::system_call(SYS_getsockopt, socket, SOL_SOCKET, SO_ERROR, address_of(&error), address_of(&size));
  return answer != 0 ? answer : -error;
}

bool is_unix_socket(int file) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return arch::system_call(SYS_getsockopt, file, SOL_SOCKET, SO_DOMAIN, address_of(&domain), address_of(&size)) == 0 &&
         domain == AF_UNIX;
}

long is_nonblocking(int file) {
  const long flags = arch::system_call(SYS_fcntl, file, F_GETFL);
  return flags < 0 ? flags : static_cast<long>((flags & O_NONBLOCK) != 0);
}

void set_nonblocking(int file, bool nonblocking) {
  const long flags = arch::system_call(SYS_fcntl, file, F_GETFL);
  if (flags < 0) return;
  arch::system_call(SYS_fcntl, file, F_SETFL, nonblocking ? flags | O_NONBLOCK : flags & ~long{O_NONBLOCK});
}

FileIdentity identity_of(int file) {
  const struct stat status = status_of(file);
  return {status.st_dev, status.st_ino};
}

bool is_device(int file) { return S_ISCHR(status_of(file).st_mode); }

bool lies_on_disk(int file) {
  const struct stat status = status_of(file);
  return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode);
}

}  // namespace weft::os
