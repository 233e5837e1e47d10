// Between unit and scheduler, after the start: leaving a unit and coming back to it.
#include "core/technique/start.h"
#include "core/technique/choice.h"

#include "arch/context.h"
#include "core/sanitizer.h"

namespace weft::core {

// The way back that the unit was started with leads into frames that will not be there.
void note_first_deviation(Worker& worker, Unit& unit) {
  if (worker.warm == unit.stack) worker.warm = nullptr;
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

namespace {

void note_running(Worker& worker, Unit& unit) {
  if (unit.worker != &worker) {
    unit.worker = &worker;
    if (std::uint16_t& moves = details(unit).moves; moves != UINT16_MAX) ++moves;
  }
  unit.state.store(UnitState::running, std::memory_order_relaxed);
  worker.current = &unit;
  pass_scheduling_point(worker);
  ++worker.counters.units_resumed;
}

// The unit will be off its stack, and the other on its own, when somebody looks at this again (weft_unit_passed).
void note_direct_switch(Worker& worker, Unit& unit, Event event, Unit& next) {
  worker.left = &unit;
  worker.left_by = static_cast<std::intptr_t>(event);
  note_running(worker, next);
}

// In sanitizer builds: the unit is on its stack again.
void note_return([[maybe_unused]] Unit& unit, void* fake, bool from_scheduler) {
  if (!from_scheduler) {
    sanitizer::arrive(fake, nullptr, nullptr);
    return;
  }
#if defined(WEFT_ASAN)
  const void* low = nullptr;
  std::size_t size = 0;
  sanitizer::arrive(fake, &low, &size);
  unit.worker->frame_stack = const_cast<void*>(low);
  unit.worker->frame_stack_size = size;
#endif
}

constexpr std::intptr_t from_scheduler = 1;

void note_deviation(Worker& worker, Unit& unit) {
  if (!unit.departed) {
    ++worker.counters.promoted_to_stack;
    unit.departed = true;
    unit.worker = &worker;
    note_first_deviation(worker, unit);
  }
  ++details(unit).deviations;
}

// Leaves the unit for `next`, or for the scheduler if that is nullptr.
inline std::intptr_t pass_on(Worker& worker, Unit& unit, Event event, Unit* next) {
  if constexpr (!sanitizer::active) {
    if (next == nullptr)
      return weft_context_switch(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
    note_direct_switch(worker, unit, event, *next);
    return weft_context_pass(&unit.context, next->context);
  }
  void* fake = nullptr;
  if (next == nullptr) {
    sanitizer::leave(&fake, worker.frame_fiber, worker.frame_stack, worker.frame_stack_size);
    const std::intptr_t value =
        weft_context_switch(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
    note_return(unit, fake, value == from_scheduler);
  } else {
    note_direct_switch(worker, unit, event, *next);
    sanitizer::leave(&fake, next->stack->fiber, next->stack->memory.low, next->stack->size());
    const std::intptr_t value = weft_context_pass(&unit.context, next->context);
    note_return(unit, fake, value == from_scheduler);
  }
  return 0;
}

}  // namespace

// From unit to unit where that can be, with the switch as the last call of all that led to it: so the processor's
// return predictor is right most of the time. By way of the scheduler it is wrong several times (25 ns for all).
std::intptr_t leave_unit(Worker& worker, Unit& unit, Event event) {
  note_deviation(worker, unit);
  return pass_on(worker, unit, event, next_to_switch_to(worker, unit));
}

std::intptr_t leave_unit_for(Worker& worker, Unit& unit, Event event, Unit& next) {
  note_deviation(worker, unit);
  return pass_on(worker, unit, event, &next);
}

Event continue_unit(Worker& worker, Unit& unit) {
  note_running(worker, unit);
  void* fake = nullptr;
  sanitizer::leave(&fake, unit.stack->fiber, unit.stack->memory.low, unit.stack->size());
  const auto event = static_cast<Event>(weft_context_resume(&worker.scheduler_context, unit.context,
                                                            sanitizer::active ? from_scheduler : 0, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  return event;
}

[[noreturn]] void finish_unit() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (worker.warm == unit.stack) worker.warm = nullptr;  // it exits, and settle() gives the stack back
  if (Unit* next = next_to_switch_to(worker, unit); next != nullptr) {
    note_direct_switch(worker, unit, Event::finished, *next);
    sanitizer::leave(nullptr, next->stack->fiber, next->stack->memory.low, next->stack->size());
    weft_context_pass_for_good(next->context);
  }
  sanitizer::leave(nullptr, worker.frame_fiber, worker.frame_stack, worker.frame_stack_size);
  weft_context_jump(worker.scheduler_context, static_cast<std::intptr_t>(Event::finished));
}

}  // namespace weft::core

extern "C" void weft_unit_passed() {
  using namespace weft::core;
  Worker& worker = *this_worker();
  settle(worker, *worker.left, static_cast<Event>(worker.left_by));
}

extern "C" [[noreturn]] void weft_unit_finish() { weft::core::finish_unit(); }
