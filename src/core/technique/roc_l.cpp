// RoC-L: return on completion, stack bound at invocation (dissertation 3.4.1, 3.4.3, Figs. 3.11, 3.15).
//
// Constraint: none. Cost without deviation: the scheduler's registers are saved once, the unit is
// called, and its own epilogue restores them. The first deviation redirects the return address,
// since the registers it would restore are stale once the scheduler has gone on.
//
// Those that follow run in a row, for which the registers are saved once (in_a_row.cpp).
#include "arch/context.h"
#include "core/technique/entry.h"
#include "core/technique/warm.h"

namespace weft::core {

namespace {

// A unit that has not deviated ends here, still on the stack, which is the worker's.
void entry(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  note_arrival();
  call_unit(*unit);
  if (unit->departed) return;  // diverted: the end comes off the stack (weft_diverted_unit_returned)
  Worker& worker = *this_worker();
  keep_warm(worker, unit->stack);
  end_undeviated_keeping_stack(worker, *unit);
  note_departure();
}

}  // namespace

// The stack stays where the next unit finds it; one that deviates takes it away (note_first_deviation). The start is
// the last call, so that a unit that deviates comes back into the scheduler's loop itself.
Event run_roc_l(Worker& worker, Unit& unit) {
  if (unit.stack != nullptr) [[unlikely]]
    return run_roc(worker, unit);
  Stack* stack = warm_stack(worker, unit.stack_class);
  begin(worker, unit, stack, stack->top());
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const auto event = static_cast<Event>(
      weft_context_start_roc(&worker.scheduler_context, stack->top(), &entry, &unit, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

}  // namespace weft::core
