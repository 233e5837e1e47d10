// Spare workers: they stand in for workers whose KLT sleeps in the kernel, and rest otherwise (idle.h).
#pragma once

#include "core/worker.h"

namespace weft::core {

/// Makes one more spare worker run; nullptr: none can be had.
Worker* wake_spare();
/// This one, if it rests.
bool wake_spare(Worker& worker);

/// The worker, whose KLT has ended or could not be started, is a spare no more.
void count_out_spare(Worker& worker);

/// In a forked child: there are none.
void reset_spares();

}  // namespace weft::core
