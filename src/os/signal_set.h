// Sets of signals, as libc has them and as the kernel keeps them.
#pragma once

#include <csignal>
#include <cstring>

#include "os/interrupt.h"

namespace weft::os {

/// Bytes of the kernel's set of signals, which is shorter than libc's: for system calls.
inline constexpr long kernel_set_bytes = 8;

/// As the kernel keeps it. SIGKILL and SIGSTOP cannot be blocked, and glibc does not let anybody block its own two.
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

}  // namespace weft::os
