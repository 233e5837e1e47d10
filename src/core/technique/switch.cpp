// Between unit and scheduler, after the start: leaving a unit and coming back to it.
#include "core/technique/start.h"
#include "core/technique/choice.h"

#include "arch/context.h"
#include "core/sanitizer.h"

namespace weft::core {

// The way back that the unit was started with leads into frames that will not be there.
void note_first_deviation(Worker& worker, Unit& unit) {
  switch (unit.technique) {
    case Technique::full:
    case Technique::full_l:
    case Technique::c_full:
    case Technique::c_full_e:
      break;
    case Technique::sc:
      unit.stack->abandoned = true;
      break;
    default:
      arch::divert_return(unit.stack->frames);
  }
  if (has_flag(unit, UnitFlag::chosen)) note_deviated(worker, unit.entry);
}

void leave_unit(Worker& worker, Unit& unit, Event event) {
  if (unit.context == nullptr) {
    ++worker.counters.promoted_to_stack;
    note_first_deviation(worker, unit);
  }
  ++unit.deviations;
  void* fake = nullptr;
  sanitizer::leave(&fake, worker.frame_fiber, worker.frame_stack, worker.frame_stack_size);
  weft_context_switch(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
#if defined(WEFT_ASAN)
  const void* low = nullptr;
  std::size_t size = 0;
  sanitizer::arrive(fake, &low, &size);
  unit.worker->frame_stack = const_cast<void*>(low);
  unit.worker->frame_stack_size = size;
#endif
}

Event continue_unit(Worker& worker, Unit& unit) {
  if (unit.worker != &worker) {
    unit.worker = &worker;
    if (unit.moves != UINT16_MAX) ++unit.moves;
  }
  unit.state.store(UnitState::running, std::memory_order_relaxed);
  worker.current = &unit;
  pass_scheduling_point(worker);
  void* fake = nullptr;
  sanitizer::leave(&fake, unit.stack->fiber, unit.stack->memory.low, unit.stack->size());
  const auto event = static_cast<Event>(weft_context_switch(&worker.scheduler_context, unit.context, 0));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

}  // namespace weft::core

extern "C" [[noreturn]] void weft_unit_finish() {
  using namespace weft::core;
  Worker& worker = *this_worker();
  sanitizer::leave(nullptr, worker.frame_fiber, worker.frame_stack, worker.frame_stack_size);
  weft_context_jump(worker.scheduler_context, static_cast<std::intptr_t>(Event::finished));
}
