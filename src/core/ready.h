// Units that become ready: where they go, and who is told.
#pragma once

#include "core/unit.h"
#include "core/worker.h"

namespace weft::core {

/// Makes a suspended (or suspending) unit ready. Any KLT of the process that has entered weft.
void resume(Unit& unit);

/// Resumes a chain linked by Unit::next: each goes back to the worker it ran on last.
void resume_all(Unit* chain);

/// Resumes units that parked on `home`, linked by Unit::next from the newest to the oldest, in a barrier. None of
/// them is touched if they are another worker's.
void resume_chain(Worker& home, Unit* newest, Unit* oldest);

/// resume() and yield() at once: the unit runs next on the calling worker, where that can be.
void resume_to(Unit& next);

/// Makes a created unit ready, in the calling worker's own deque, whatever scheduler or pool there is.
void start(Unit& unit);

/// Where a unit without a pool goes that is ready on this worker, or was there last: from one with a scheduler of its
/// own, which has pools to run first, and which nobody takes anything away from, to one of weft's, if there is any.
Worker& open_worker(Worker& worker);

/// Puts a ready unit where it belongs, and tells those who may run it.
void put_ready(Worker& worker, Unit& unit);

/// Under a custom scheduler that has pools, and looks only into these: puts what lies at the worker itself into the
/// first of them. That was there before the worker had the scheduler, or has no other worker to go to.
void put_own_into_pool(Worker& worker);

/// A ready unit in hand goes behind what is ready on the worker; nobody is told.
void put_behind_all_others(Worker& worker, Unit& unit);

/// A ready unit in hand that has yielded, or is not run after all: behind all others, in its pool or on the worker.
void put_back_passed_over(Worker& worker, Unit& unit);
/// The same of the one that has just yielded and left its stack.
void put_back_yielded(Worker& worker, Unit& unit);

/// Of the next unit's KLT, which comes back from where that was left: the one that was left for it is as after yield().
/// No lock that the interrupted code may hold, no memory.
void put_back_preempted(Worker& worker, Unit& unit);

}  // namespace weft::core
