// Roots: threads of the program, that is KLTs that weft has not started. One becomes a root when it first comes to
// weft, and has a worker until it ends.
#pragma once

#include "core/runtime.h"
#include "core/worker.h"

namespace weft::core {

/// The worker of the calling KLT; makes the KLT a root if it is not in weft yet.
Worker& enter();
/// The same; nullptr: no memory.
Worker* try_enter();
inline Worker& worker_here() {
  Worker* worker = this_worker();
  return worker != nullptr ? *worker : enter();
}

/// Before there is one.
void expect_roots();

/// Makes the calling KLT a root, on a new worker; nullptr: no memory. Under Runtime::entrance, or where nobody else is.
Worker* make_root();

/// In a forked child: there are none.
void reset_roots();

}  // namespace weft::core
