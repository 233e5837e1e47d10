// Workers that are stuck, and what the watchdog does about it.
//
// A worker is stuck if it has passed no scheduling point since the last look while units wait for a
// worker: a member that spins until another member has done something, say, in a library with a
// barrier of its own. Its KLT is interrupted, and what it runs gives way to the others as if it had
// yielded (signal-yield, Shiina et al. 3.1.1; units have identities of their own, so thread-local
// storage stays theirs). A root gives way by stepping aside: another KLT has its CPU for a while.
// A worker whose KLT sleeps in the kernel meanwhile (a member waits on a pthread barrier, say, or reads
// from a pipe) is stood in for: a spare worker on a KLT of its own runs the units that wait, for as long
// as it finds some. (Shiina et al. hand the worker itself to another KLT; here its pools are open to
// thieves, so that another worker serves as well.)
// One that passes scheduling points, but comes to nothing of what waits for long (a member that opens a region of its
// own again and again until another member has done something), is treated alike, after a longer while.
// One that is switched off (core/active.h), and computes on, is treated alike though nobody waits.
#pragma once

#include <cstdint>

#include "core/worker.h"

namespace weft::core {

/// The watchdog's look at all workers; `now`: os::now_ns().
void look_at_workers(std::uint64_t now);

/// Whether the next one is to come soon: some worker may be about to sleep in the kernel.
bool is_to_look_quickly();

/// Whether something waits for a worker, put aside for some of them or not (a hint). something_waits() (find.h) is
/// about what a worker that may run anything finds.
bool units_wait();

/// How many workers slept in the kernel, or could not be interrupted, while units waited, when it last looked; without
/// those that have a scheduler of their own.
unsigned watchdog_counts_blocked();
/// Whether this one did.
bool watchdog_sees_blocked(const Worker& worker);

/// Whether who has opened one of the worker's shares, and runs a part of it on top of its own stack, would have
/// something else to do by now.
inline bool keeps_opener_from_going_on(const Worker& worker) {
  for (const auto& place : worker.published) {
    const Share* share = place.load(std::memory_order_acquire);
    if (share != nullptr && share->wants_opener != nullptr && share->wants_opener(*share)) return true;
  }
  return false;
}

/// Whether the worker's root waits for nothing any more but its KLT, which it has lent; or an opener does.
inline bool keeps_root_from_going_on(const Worker& worker) {
  const bool lent = worker.lends_within.load(std::memory_order_relaxed) != nullptr &&
                    worker.root.unit.state.load(std::memory_order_relaxed) == UnitState::ready;
  return lent || keeps_opener_from_going_on(worker);
}

/// In a forked child.
void forget_what_was_seen();

}  // namespace weft::core
