#include "os/control.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "arch/system_call.h"

namespace weft::os {
namespace {

void (*asked_for)(int value, pid_t asker) = nullptr;

void on_signal(int, siginfo_t* info, void*) {
  if (info->si_code != SI_QUEUE) return;
  const int kept = errno;
  asked_for(info->si_value.sival_int, info->si_pid);
  errno = kept;
}

}  // namespace

bool install_control(void (*asked)(int value, pid_t asker)) {
  struct sigaction present {};
  if (sigaction(SIGURG, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) return false;
  asked_for = asked;  // before a signal comes
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  return sigaction(SIGURG, &action, nullptr) == 0;
}

bool takes_commands() { return asked_for != nullptr; }

void answer_control(pid_t asker, const char* text, std::size_t size) {
  const long socket = arch::system_call(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The first byte 0: a name of no file.
  const int length =
      snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "weft-ctl/%d", static_cast<int>(asker));
  arch::system_call(SYS_sendto, socket, reinterpret_cast<long>(text), static_cast<long>(size),
                    MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<long>(&address),
                    static_cast<long>(offsetof(sockaddr_un, sun_path)) + 1 + length);
  arch::system_call(SYS_close, socket);
}

}  // namespace weft::os
