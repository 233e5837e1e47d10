// The signal that interrupts what a stuck worker runs.
#pragma once

#include <cstdint>

#include "core/stuck_seen.h"
#include "core/worker.h"

namespace weft::core {

/// Sends it to the KLT, unless one is under way there. `others_blocked`: what the KLT has blocked of the signals below
/// the real-time ones; `had_cpu`: it has computed since something was last done about it. False: it could not be sent.
bool interrupt(Worker& worker, Seen& before, int klt, std::uint64_t others_blocked, bool had_cpu, std::uint64_t now);

}  // namespace weft::core
