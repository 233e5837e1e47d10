// RoC: return on completion, with the stack bound at creation (dissertation 3.4.1, Figs. 3.11-3.12).
//
// Constraint: none.
#include "arch/context.h"
#include "core/technique/entry.h"

namespace weft::core {

Event start_roc(Worker& worker, Unit& unit, Stack* stack, void* top) {
  begin(worker, unit, stack, top);
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const auto event =
      static_cast<Event>(weft_context_start_roc(&worker.scheduler_context, top, &roc_entry, &unit, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

Event run_roc(Worker& worker, Unit& unit) {
  const Event event = start_roc(worker, unit, unit.stack, unit.stack->top());
  if (event == Event::returned) end_undeviated(worker, unit);
  return event;
}

}  // namespace weft::core
