#include "core/give_way.h"

#include "core/identities.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "core/technique/start.h"
#include "os/klt.h"
#include "os/signal_mask.h"

namespace weft::core {
namespace {

// From the handler, over whatever code of the program's. A handler of the program's that ran while the root sleeps here
// might leave by siglongjmp(), as it may leave that code: but the root stands in a queue, and would stand in two the
// next time. So signals that have a handler wait until the root is back, as they do for a thread that has no CPU: that
// is when everything that is queued there has had its turn, for a slice at most each; or, where what sleeps before it
// needs a KLT and none is to be had, when that is over. The others end or stop the process as ever. Not where the
// program itself has called: who leaves a call that may wait does that at his own risk, and it would cost each such
// call some of the kernel's.
void step_aside_in_handler(const Worker& worker) {
  const os::SignalMask before = os::signals_blocked();
  os::set_signals(before | os::signals_with_handlers());
  os::begin_call_that_blocks(before);  // as far as the children of others are concerned
  step_aside(worker.interrupts.ran_ns.load(std::memory_order_relaxed));
  os::end_call_that_blocks();
  os::set_signals(before);
}

}  // namespace

void give_way_to_watchdog() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (!identities_enabled) return;
  if (is_root(unit)) {
    worker.interrupts.in_vain.store(0, std::memory_order_relaxed);
    step_aside_in_handler(worker);
    return;
  }
  // Of units that were created one by one, those that nobody wants to be interrupted, or to be moved.
  if (has_flag(unit, UnitFlag::free_standing) && kind_of(unit) != Preemption::signal_yield) return;
  if (runs_on_any_identity(unit)) return;  // in the midst of an access to storage that others use, perhaps
  // The code may be in the middle of a thread-local access: it must find the same storage again, and
  // nobody else may find it as it is now. So only with another identity at hand for the worker.
  if (details(unit).identity == nullptr && worker.identities.spares == nullptr && !take_spare_in_handler(worker)) {
    want_identity();
    worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  leave_unit_to_scheduler(worker, unit, Event::yielded);
}

}  // namespace weft::core
