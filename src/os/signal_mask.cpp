#include "os/signal_mask.h"

#include <ctime>
#include <sys/syscall.h>

#include "arch/system_call.h"
#include "os/klt.h"

namespace weft::os {
namespace {

SignalMask change_mask(int how, SignalMask change) {
  SignalMask before = 0;
  arch::system_call(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&change), reinterpret_cast<long>(&before),
                    kernel_set_bytes);
  return before;
}

}  // namespace

SignalMask signals_blocked() { return change_mask(SIG_BLOCK, 0); }
void set_signals(SignalMask mask) { change_mask(SIG_SETMASK, mask); }
SignalMask block_signals(SignalMask signals) { return change_mask(SIG_BLOCK, signals); }
SignalMask unblock_signals(SignalMask signals) { return change_mask(SIG_UNBLOCK, signals); }
SignalMask block_all_signals() { return change_mask(SIG_SETMASK, ~signals_of_libc); }

SignalMask signals_with_handlers() {
  SignalMask found = 0;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction present;
    if (__sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN)
      found |= mask_of(number);
  }
  return found;
}

SignalMask take_pending(SignalMask signals) {
  const timespec at_once{};
  SignalMask taken = 0;
  while (signals != 0) {
    const long number = arch::system_call(SYS_rt_sigtimedwait, reinterpret_cast<long>(&signals), 0,
                                          reinterpret_cast<long>(&at_once), kernel_set_bytes);
    if (number <= 0) break;
    taken |= mask_of(static_cast<int>(number));
    signals &= ~taken;
  }
  return taken;
}

void send_to_this_klt(SignalMask signals) {
  for (int number = 1; signals != 0; ++number, signals >>= 1U)
    if ((signals & 1U) != 0) arch::system_call(SYS_tgkill, arch::system_call(SYS_getpid), this_klt(), number);
}

}  // namespace weft::os
