// SC: scheduler creation (dissertation 3.4.4, Fig. 3.16): the unit is called by a scheduler on that scheduler's own
// stack, as a stackless one is. A unit that deviates keeps the stack, with the frames of the scheduler that
// called it; the worker goes on with a new scheduler on a new stack. When the unit comes back into the frames
// of the old one, that finds itself abandoned and ends with the unit.
//
// The scheduler on the stack is the loop below; it starts SC units one after the other.
//
// Constraints: the scheduler must be stateless; all SC units have stacks of the default size, for they share them
// with schedulers (both checked in api/unit_create.cpp).
#include "arch/context.h"
#include "core/runtime.h"
#include "core/technique/entry.h"
#include "core/technique/pass.h"

namespace weft::core {
namespace {

void loop(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  Stack* stack = unit->stack;
  note_arrival();
  for (;;) {
    call_unit(*unit);
    if (stack->abandoned) [[unlikely]] {
      weft_unit_finish();
    }
    Worker& worker = *this_worker();  // the same: it has not deviated
    end_undeviated_keeping_stack(worker, *unit);
    unit = next_in_batch(worker, Technique::sc);
    if (unit == nullptr) break;
    arch::load_fp_control(worker.fp_control);
    begin(worker, *unit, stack, stack->top());
  }
  note_departure();
}

}  // namespace

Event run_sc(Worker& worker, Unit& unit) {
  Stack* stack = worker.stacks.take(runtime.config.stack_size);
  stack->abandoned = false;
  begin(worker, unit, stack, stack->top());
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const auto event = static_cast<Event>(
      weft_context_start_roc(&worker.scheduler_context, stack->top(), &loop, &unit, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  if (event == Event::returned) worker.stacks.give(stack);
  return event;
}

}  // namespace weft::core
