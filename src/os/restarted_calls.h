// Which system calls go on as if nothing had happened when a handler with SA_RESTART has run.
#pragma once

#include <sys/syscall.h>

namespace weft::os {

/// Those that may sleep for long, and that the kernel makes anew. (On a socket with a timeout it does not: signal(7);
/// nor a futex call with one.)
inline bool is_restarted(long number) {
  switch (number) {
    case SYS_futex:
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_flock:
    case SYS_fcntl:
      return true;
    default:
      return false;
  }
}

}  // namespace weft::os
