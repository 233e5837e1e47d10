// Who has which slot (Runtime::worker_at). A worker that is not needed any more leaves its slot to the next one; its
// memory stays, for somebody may look at it still.
#pragma once

#include "core/spinlock.h"
#include "core/worker.h"

namespace weft::core {

/// Held while a slot is taken or left, or it is said of its worker that it shall run, or end.
extern Spinlock slots_lock;

/// A slot that a worker left, or a new one; nullptr: no memory.
Worker* register_worker();

/// The same for a worker that the program makes: one that such a worker left, or a new one. At others' slots there may
/// be units without a pool, which are nothing of its; or they come back there when they are ready. nullptr: no memory.
Worker* register_worker_of_program();

/// Whether register_worker() would take one that was left.
bool has_unused_slot();

/// Leaves the slot of a worker that nobody carries. Whoever waits for its end (Worker::life) is told.
void leave_slot(Worker& worker);

/// Under slots_lock: the slot, which has been left, is for whoever comes next.
void put_among_unused(Worker& worker);

/// In a forked child: there are none.
void reset_slots();

}  // namespace weft::core
