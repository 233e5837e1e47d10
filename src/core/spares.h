// Spare workers: they stand in for workers whose KLT sleeps in the kernel, and rest otherwise (idle.h).
#pragma once

#include "core/worker.h"

namespace weft::core {

/// Wakes one that rests; nullptr: none does. Also from a handler.
Worker* wake_resting_spare();
/// This one, if it rests. Also from a handler.
bool wake_resting_spare(Worker& worker);

/// Makes one more spare worker run, which is made where none rests; nullptr: none can be had. It allocates.
Worker* get_spare();

/// get_spare() for a handler, which may not allocate: the watchdog does it, if something waits then.
void want_spare();
/// By the watchdog.
void make_wanted_spare();

/// The worker, whose KLT has ended or could not be started, is a spare no more.
void count_out_spare(Worker& worker);

/// In a forked child: there are none.
void reset_spares();

}  // namespace weft::core
