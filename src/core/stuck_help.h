// What is done about a worker that is stuck (stuck.h): what it runs is interrupted, a spare worker stands in for it, or
// what it has in hand is opened for others.
#pragma once

#include <cstdint>

#include "core/stuck_seen.h"
#include "core/worker.h"

namespace weft::core {

/// So many looks, soon after one another, at a worker that may be about to sleep: the first may find it on its way to
/// what it is to run.
inline constexpr unsigned quick_looks = 4;

/// The worker is stuck while units wait, `elsewhere_too` if some could run on another worker. Whether something was
/// done about it.
bool help_stuck(Worker& worker, Seen& before, bool elsewhere_too, std::uint64_t now);

/// Another worker runs what waits beside this one, for as long as it finds some; unless enough do already.
bool stand_in_for(Seen& before, std::uint64_t now);

/// What the worker has in hand is for others, who come to it no other way. False: it has nothing.
bool open_its_hand(Worker& worker, Seen& before, std::uint64_t now);

/// How many workers are blocked, of those for which others can stand in.
unsigned count_blocked();

}  // namespace weft::core
