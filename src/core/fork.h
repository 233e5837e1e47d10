// What a fork asks for, in the parent and in the child. The child has one KLT, that which forked, and all other workers
// are a picture of the past: what has state of its own has a reset_...() for the child, and they are called here.
#pragma once

#include "core/unit.h"

namespace weft::core {

/// From now on a unit that forks is not left meanwhile (preempt.h).
void watch_forks_in_parent();

/// In a forked child: the function of the unit, or of the scheduler or pool, that has forked comes to its end. It is a
/// root now, and under its frames are those of a worker of the parent's. So its destructors run, and the process ends
/// as by the end of its last thread.
[[noreturn]] void end_forked();

/// The unit has forked while it had no worker (call_blocking): in the child it goes on as a root.
void go_on_as_root(Unit& forked);

}  // namespace weft::core
