// RoC: return on completion, with the stack bound at creation (dissertation 3.4.1, Figs. 3.11-3.12).
//
// Constraint: none.
#include "core/technique/entry.h"

namespace weft::core {

Event run_roc(Worker& worker, Unit& unit) {
  const Event event = start_roc_l(worker, unit, unit.stack, unit.stack->top());
  if (event == Event::returned) end_undeviated(worker, unit);
  return event;
}

}  // namespace weft::core
