// Preemption: the C API.
#include "api/preempt.h"

#include "api/convert.h"
#include "core/klt_pools.h"
#include "core/klt_switch.h"
#include "core/own_scheduler.h"
#include "core/roots.h"
#include "core/slices.h"
#include "core/watchdog.h"
#include "os/interrupt.h"

using namespace weft;

static_assert(static_cast<int>(core::TickMode::creation) == WEFT_TIMER_CREATION);
static_assert(static_cast<int>(core::TickMode::chain) == WEFT_TIMER_CHAIN);

extern "C" int weft_pool_set_preemption(weft_pool* handle, weft_preemption kind) {
  if (handle == nullptr || static_cast<unsigned>(kind) > WEFT_PREEMPT_NONE) return WEFT_ERR_ARGUMENT;
  core::Pool& pool = *api::pool_of(handle);
  if (pool.preemption() != core::Preemption::by_default || pool.size() != 0 || core::has_scheduler(pool))
    return WEFT_ERR_STATE;
  pool.set_preemption(static_cast<core::Preemption>(kind));
  return WEFT_OK;
}

extern "C" int weft_preempt_timer(weft_timer timer, uint64_t nanoseconds) {
  if (static_cast<unsigned>(timer) > WEFT_TIMER_CHAIN || nanoseconds < core::shortest_interval_ns ||
      nanoseconds > core::longest_interval_ns)
    return WEFT_ERR_ARGUMENT;
  core::worker_here();  // starts the runtime
  core::change_ticking(static_cast<core::TickMode>(timer), nanoseconds);
  return WEFT_OK;
}

extern "C" int weft_preempt_disable() {
  core::worker_here();
  return core::hold_off() ? WEFT_OK : WEFT_ERR_LIMIT;
}

extern "C" int weft_preempt_enable() {
  core::worker_here();
  return core::let_go() ? WEFT_OK : WEFT_ERR_STATE;
}

extern "C" int weft_watchdog(int on) {
  core::worker_here();
  if (on != 0 && !core::preemption_works()) return WEFT_ERR_UNSUPPORTED;
  core::watchdog_interrupts.store(on != 0, std::memory_order_relaxed);
  if (on != 0) core::watch();
  return WEFT_OK;
}

extern "C" int weft_watchdog_slices(uint64_t first_ns, uint64_t shortest_ns) {
  if (shortest_ns < core::shortest_slice_ns || shortest_ns > first_ns || first_ns > core::longest_slice_ns)
    return WEFT_ERR_ARGUMENT;
  core::worker_here();
  core::set_slices({first_ns, shortest_ns});
  return WEFT_OK;
}

extern "C" int weft_preempt_signal() {
  core::worker_here();
  return core::preemption_works() ? os::interrupt_signal() : 0;
}

extern "C" int weft_blocking(void (*function)(void*), void* argument) {
  if (function == nullptr) return WEFT_ERR_ARGUMENT;
  core::worker_here();
  core::call_blocking(function, argument);
  return WEFT_OK;
}

extern "C" size_t weft_klts(size_t* free) {
  const core::KltCount count = core::count_klts();
  if (free != nullptr) *free = count.free;
  return count.made;
}

extern "C" uint64_t weft_preemptions() { return core::sum_counters().preempted; }
