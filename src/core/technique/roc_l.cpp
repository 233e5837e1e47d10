// RoC-L: return on completion, stack bound at invocation (dissertation 3.4.1, 3.4.3, Figs. 3.11, 3.15).
//
// Constraint: none. Cost without deviation: the scheduler's registers are saved once, the unit is
// called, and its own epilogue restores them. The first deviation redirects the return address,
// since the registers it would restore are stale once the scheduler has gone on.
#include "arch/context.h"
#include "core/technique/entry.h"

namespace weft::core {

namespace {

[[gnu::noinline]] Stack* warm_up(Worker& worker, const Unit& unit) {
  if (worker.warm != nullptr) worker.stacks.give(worker.warm);
  worker.warm = take_stack(worker, unit);
  worker.warm_class = unit.stack_class;
  return worker.warm;
}

// A unit that has not deviated ends here, still on the stack, which is the worker's.
void entry(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  note_arrival();
  call_unit(*unit);
  if (unit->departed) return;  // diverted: the end comes off the stack (weft_unit_finish)
  Worker& worker = *this_worker();
  if (worker.warm != unit->stack) [[unlikely]] {  // it has spawned children, and could have been stolen then
    if (worker.warm != nullptr) worker.stacks.give(worker.warm);
    worker.warm = unit->stack;
  }
  end_undeviated_keeping_stack(worker, *unit);
  note_departure();
}

}  // namespace

// The stack stays where the next unit finds it; one that deviates takes it away (note_first_deviation).
Event run_roc_l(Worker& worker, Unit& unit) {
  if (unit.stack != nullptr) [[unlikely]]
    return run_roc(worker, unit);
  Stack* stack = worker.warm;
  if (stack == nullptr || worker.warm_class != unit.stack_class) [[unlikely]]
    stack = warm_up(worker, unit);
  begin(worker, unit, stack, stack->top());
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const auto event = static_cast<Event>(
      weft_context_start_roc(&worker.scheduler_context, stack->top(), &entry, &unit, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

}  // namespace weft::core
