// SS-L: stack separation, with the stack bound at invocation (dissertation 3.4.2-3.4.3, Figs. 3.13-3.15).
//
// The unit is called on a stack of its own, and no register of the scheduler is saved for it. One that
// deviates cannot go back into the loop that called it: the loop is entered anew. Here that is a loop of its
// own inside the scheduler, whose surroundings are saved once, when it is entered, and not once per
// unit: a deviation resumes those, and the frames of the loop are lost.
//
// Constraint: the scheduler must be stateless. The loop below is; a scheduler of the user's own that is not
// declared so never comes here (api/unit_create.cpp).
#include "arch/context.h"
#include "core/technique/entry.h"
#include "core/technique/pass.h"

namespace weft::core {
namespace {

// Its frame is lost when a unit deviates: AddressSanitizer must not have marked anything in it.
[[gnu::no_sanitize_address]] void loop(void* argument) {
  for (auto unit = static_cast<Unit*>(argument); unit != nullptr;) {
    Worker& worker = *this_worker();
    Stack* stack = bind_stack(worker, *unit);
    begin(worker, *unit, stack, stack->top());
    void* fake = nullptr;
    sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
    weft_context_start_ss(stack->top(), &roc_entry, unit, worker.fp_control);
    sanitizer::arrive(fake, nullptr, nullptr);
    // It has not deviated, so this is the same worker.
    const Technique technique = unit->technique;
    end_undeviated(worker, *unit);
    unit = next_in_batch(worker, technique);
  }
}

}  // namespace

Event run_ss_l(Worker& worker, Unit& unit) {
  const auto event = static_cast<Event>(weft_context_call_saved(&worker.scheduler_context, &loop, &unit));
  if (event != Event::returned) sanitizer::arrive(nullptr, nullptr, nullptr);  // the loop was left in the midst
  return event;
}

}  // namespace weft::core
