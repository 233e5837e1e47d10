// What the watchdog has done, and where: for reports.
#pragma once

#include <cstdint>

namespace weft::core {

/// How often it has interrupted code of the program's, and the function in which that was most often of late (`times`
/// of the last `of`).
struct WatchdogFindings {
  std::uint64_t interrupted = 0;
  std::uint64_t spinning = 0;  // how many of these seemed to spin
  std::uint64_t stood_in = 0;  // how often another KLT was put to work for one that slept in the kernel
  std::uint64_t moved = 0;     // how often what slept in the kernel was taken off the KLT of a root
  const char* function = "";   // "" if it has no name that the dynamic linker knows
  const char* library = "";
  unsigned times = 0;
  unsigned of = 0;
};
/// Any caller but a signal handler.
WatchdogFindings watchdog_findings();

/// From the handler of its signal: this instruction was interrupted, in code of the program's, by which it seems to
/// spin, or not.
void note_left_at(std::uintptr_t instruction, bool spins);
/// From that handler: what was interrupted slept in the kernel on the KLT of a root that could go on.
void note_moved();
/// From the watchdog.
void note_stood_in();

}  // namespace weft::core
