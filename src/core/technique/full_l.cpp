// Full-L: fully fledged, with the stack bound at invocation (dissertation 3.3.3, Figs. 2.4-2.5 and 3.15): both
// ways between scheduler and unit are context switches.
//
// Constraint: none. Worth it where almost every unit deviates: there is nothing to redirect.
#include "arch/context.h"
#include "core/technique/entry.h"

namespace weft::core {

Event start_full(Worker& worker, Unit& unit, Stack* stack, void* top) {
  unit.stack = stack;
  begin(worker, unit);
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const auto event = static_cast<Event>(
      weft_context_start_full(&worker.scheduler_context, top, &full_entry, &unit, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

Event run_full_l(Worker& worker, Unit& unit) {
  Stack* stack = bind_stack(worker, unit);
  return start_full(worker, unit, stack, stack->top());
}

}  // namespace weft::core
