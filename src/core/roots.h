// Roots: threads of the program, that is KLTs that weft has not started. One becomes a root when it first comes to
// weft, and has a worker until it ends.
//
// What is one thread to libc need not be one KLT. Where another runtime in the process lends thread pointers (libweft
// beside a face that stands in for another library), its threads are roots here, and it may have them go on on another
// KLT whenever they are not in here. So the end of the KLT on which such a root came says nothing of the root; and when
// the root comes to lend its KLT, it looks which that is (follow_root), for ticks and interrupts are sent to that one.
// A root that goes on elsewhere in the midst of a unit, as the other runtime preempts it, is not followed before the
// next time: no tick comes to what it runs, and the watchdog has others run beside it (stuck_help.cpp).
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

/// The calling root is about to run others: on the KLT on which it is now.
void follow_root_slowly(Worker& worker);
inline void follow_root(Worker& worker) {
  if (runtime.roots_may_move.load(std::memory_order_relaxed)) [[unlikely]]
    follow_root_slowly(worker);
}

/// The root that calls was on KLT `before`, when it last said so, and its worker is carried by the KLT that calls.
void note_klt_of_root(Worker& worker, int before);

/// Before there is one.
void expect_roots();

/// Makes the calling KLT a root, on a new worker; nullptr: no memory. Under Runtime::entrance, or where nobody else is.
Worker* make_root();

/// In a forked child: there are none.
void reset_roots();

}  // namespace weft::core
