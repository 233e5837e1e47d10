// The signals that a KLT has blocked, as the kernel keeps them, for the calling one. No libc, no errno: also from
// handlers, and where storage and KLT do not belong together. (os/identity.h)
#pragma once

#include <csignal>
#include <cstdint>
#include <cstring>

namespace weft::os {

/// Bytes of the kernel's set of signals, which is shorter than libc's: for system calls.
inline constexpr long kernel_set_bytes = 8;

using SignalMask = std::uint64_t;
/// That of one signal; none of signal 0.
constexpr SignalMask mask_of(int signal) {
  return signal > 0 ? SignalMask{1} << static_cast<unsigned>(signal - 1) : SignalMask{0};
}
/// The two that glibc keeps for itself: by them it cancels a thread, and has every thread change its user id, so that
/// setuid() in any thread waits for as long as one has them blocked.
inline constexpr SignalMask signals_of_libc = mask_of(__SIGRTMIN) | mask_of(__SIGRTMIN + 1);

/// From libc's form. SIGKILL and SIGSTOP cannot be blocked, and glibc does not let anybody block its own two.
inline SignalMask mask_of_set(const sigset_t& set) {
  SignalMask mask = 0;
  memcpy(&mask, &set, sizeof mask);
  return mask & ~(mask_of(SIGKILL) | mask_of(SIGSTOP) | signals_of_libc);
}

inline sigset_t set_of_mask(SignalMask mask) {
  sigset_t set;
  sigemptyset(&set);
  memcpy(&set, &mask, sizeof mask);
  return set;
}

SignalMask signals_blocked();
void set_signals(SignalMask mask);
/// These return what was blocked before.
SignalMask block_signals(SignalMask signals);
SignalMask unblock_signals(SignalMask signals);
SignalMask block_all_signals();  // but for libc's

/// Those that the process has handlers for, weft's among them.
SignalMask signals_with_handlers();
/// Of these, which it has blocked: takes those that are pending, and which they are.
SignalMask take_pending(SignalMask signals);
/// Sends them to the calling KLT.
void send_to_this_klt(SignalMask signals);

/// Libc's sigaction(2), by a name that nobody stands in front of: a face of weft's does in front of the usual one.
extern "C" int __sigaction(int number, const struct sigaction* wanted, struct sigaction* before);

}  // namespace weft::os
