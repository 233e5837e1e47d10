// Cancellation (OpenMP 5.2, 11): cancel and cancellation point for parallel, loop, sections and taskgroup regions.
//
// Whoever cancels sets a flag; others learn of it at cancellation points, of which barriers are one: those who wait in
// one are woken. A team's flags are as new when its next region opens; that of a worksharing region is taken back by
// the barrier at its end, which all members pass. In a cancelled parallel region nobody waits for a member that may
// have gone already: neither in barriers that are no cancellation points to the compiler, nor for a turn in an ordered
// loop, nor for others to catch up (workshare.cpp).
//
// A taskgroup is cancelled by itself, whatever becomes of those around it: what has begun in one of those may open
// groups of its own, and goes on to its end.
//
// Tasks that have not begun are discarded by whoever would run them, and complete without having run; so counts,
// dependences and descriptors go the usual way.
#pragma once

#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

enum class Cancellable : unsigned { parallel, worksharing, taskgroup };

/// The cancel construct, its condition being true. True: the caller shall go to the end of the region.
bool cancel(Member& member, Cancellable region);
/// cancellation point; true as above.
bool cancellation_point(Member& member, Cancellable region);
/// A barrier that is a cancellation point; true: the parallel region is cancelled.
bool cancellable_barrier(Member& member);

/// The task belongs to a cancelled region.
bool is_cancelled(const Team& team, const Task& task);

/// The task, which has not begun, shall not run.
inline bool is_discarded(const Member& member, const Task& task) {
  return settings.cancellation && !task.must_run && is_cancelled(*member.team, task);
}
/// Tasks that the member would create now shall not be.
inline bool creates_nothing(const Member& member) {
  return settings.cancellation && is_cancelled(*member.team, *member.task);
}

}  // namespace weft::openmp
