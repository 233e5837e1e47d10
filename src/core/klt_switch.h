// KLT-switching (Shiina et al., 3.1.2, 3.3): a unit that is preempted keeps the KLT it runs on, and its worker goes on
// on another one. The argument stands at the head of klt_switch.cpp. Below it: who carries a worker (carrier.h), a
// worker that is lent (lend.h), and the KLTs at hand (klt_pools.h).
#pragma once

#include "core/technique/start.h"
#include "core/unit.h"
#include "core/worker.h"
#include "os/interrupt.h"

namespace weft::core {

/// Runs a unit that has, or may come to need, a KLT of its own; in place of run(). The worker is carried by a Klt, or
/// lends itself to one until the scheduler frame that calls this has nothing more to do: then `lent` is true, and all
/// is done.
Event run_on_klt(Worker& worker, Unit& unit, bool& lent);

/// From the handler, on the KLT that runs the unit, which may be left. False: it is not, as no other KLT is at hand;
/// there will be one soon.
bool switch_klt(Worker& worker, Unit& unit, const os::WordAwaited& awaited);

/// Of a unit that holds a KLT: that would only sleep on.
bool would_sleep_on(const Unit& unit);

/// Calls function(argument), which may sleep in the kernel and uses nothing of weft's, in the calling unit, while its
/// worker goes on on another KLT. Where that cannot be (a root, no stack, no further KLT), it is just called.
void call_blocking(void (*function)(void*), void* argument);

/// The KLT that carries the worker now has no timer yet, perhaps, and comes next to something else than a unit that
/// holds a KLT.
void keep_time(Worker& worker);

}  // namespace weft::core
