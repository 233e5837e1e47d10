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
  const auto event = static_cast<Event>(weft_context_start_roc(&worker.scheduler_context, top, &roc_entry, &unit,
                                                               worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

namespace {

[[gnu::noinline]] Stack* warm_up(Worker& worker, const Unit& unit) {
  if (worker.warm != nullptr) worker.stacks.give(worker.warm);
  worker.warm = worker.stacks.take(wanted_stack(unit));
  worker.warm_class = unit.stack_class;
  return worker.warm;
}

}  // namespace

// The stack stays where the next unit finds it; one that deviates takes it away (note_first_deviation).
Event run_roc_l(Worker& worker, Unit& unit) {
  if (unit.stack != nullptr) [[unlikely]]
    return run_roc(worker, unit);
  Stack* stack = worker.warm;
  if (stack == nullptr || worker.warm_class != unit.stack_class) [[unlikely]]
    stack = warm_up(worker, unit);
  const Event event = start_roc_l(worker, unit, stack, stack->top());
  if (event != Event::returned) return event;
  end_undeviated_keeping_stack(worker, unit);
  if (worker.warm != stack) [[unlikely]]
    worker.stacks.give(stack);  // it has spawned children, and could have been stolen then
  return event;
}

}  // namespace weft::core
