// RoC-L: return on completion, stack bound at invocation (dissertation 3.4.1, 3.4.3, Figs. 3.11, 3.15).
//
// Constraint: none. Cost without deviation: the scheduler's registers are saved once, the unit is
// called, and its own epilogue restores them. The first deviation redirects the return address,
// since the registers it would restore are stale once the scheduler has gone on.
#include "arch/context.h"
#include "core/technique/entry.h"

namespace weft::core {

Event start_roc_l(Worker& worker, Unit& unit, Stack* stack, void* top) {
  begin(worker, unit, stack, top);
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const auto event = static_cast<Event>(weft_context_start_roc(&worker.scheduler_context, top, &roc_entry, &unit));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

Event run_roc_l(Worker& worker, Unit& unit) {
  Stack* stack = bind_stack(worker, unit);
  const Event event = start_roc_l(worker, unit, stack, stack->top());
  if (event == Event::returned) end_undeviated(worker, unit);
  return event;
}

}  // namespace weft::core
