// Between unit and scheduler, after the start: leaving a unit and coming back to it. And between units: one that leaves
// continues the next, or starts it where that is a switch anyway (Full, Full-L).
#include <cstring>

#include "core/technique/choice.h"
#include "core/technique/entry.h"
#include "core/technique/start.h"

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
  if (has_flag(unit, UnitFlag::chosen)) note_deviated(worker.choices, unit.entry);
}

namespace {

[[gnu::noinline]] void bind_after_another(Worker& worker, Unit& unit) {
  unit.stack = take_stack(worker, unit.stack_class);
}

[[gnu::always_inline]] inline void begin_after_another(Worker& worker, Unit& unit) {
  Stack* stack = unit.stack;
  begin(worker, unit, stack, stack->top());
}

// It is off its stack, and the next one on its own, when it is settled (weft_unit_passed).
[[gnu::always_inline]] inline void note_left(Worker& worker, Unit& unit, Event event) {
  worker.left = &unit;
  worker.left_by = static_cast<std::intptr_t>(event);
}

inline void note_departure_from_stack(Worker& worker, Unit& unit) {
  ++worker.counters.promoted_to_stack;
  unit.departed = true;
  unit.place = static_cast<std::uint16_t>(worker.index);
}

// note_first_deviation() of a unit that has never been on the warm stack, and that no return leads back from. False: it
// is another, or there is more to do.
inline bool note_first_deviation_quickly(Worker& worker, const Unit& unit) {
  const Technique technique = unit.technique;
  if (technique != Technique::full && technique != Technique::full_l) return false;
  return !has_flag(unit, UnitFlag::chosen) || note_last_deviated(worker.choices, unit.entry);
}

[[gnu::noinline]] int pass_to_new(Worker& worker, Unit& unit, Unit& next) {
  begin_after_another(worker, next);
  return weft_context_pass_to_new(&unit.context, next.stack->top(), &next, worker.fp_control);
}

[[gnu::noinline]] int pass_to_unbound(Worker& worker, Unit& unit, Unit& next) {
  bind_after_another(worker, next);
  return pass_to_new(worker, unit, next);
}

// Leaves the unit, of which note_left() has told, for `next`.
[[gnu::always_inline]] inline int pass_to(Worker& worker, Unit& unit, Unit& next) {
  if (!next.departed)
    return next.stack != nullptr ? pass_to_new(worker, unit, next) : pass_to_unbound(worker, unit, next);
  note_running(worker, next);
  return weft_context_pass(&unit.context, next.context);
}

// The same, or for the scheduler if there is none.
inline int pass_on(Worker& worker, Unit& unit, Event event, Unit* next) {
  if constexpr (!sanitizer::active) {
    if (next == nullptr) [[unlikely]]
      return weft_context_leave(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
    return pass_to(worker, unit, *next);
  }
  void* fake = nullptr;
  if (next == nullptr) {
    sanitizer::leave(&fake, worker.frame_fiber, worker.frame_stack, worker.frame_stack_size);
    const std::intptr_t value =
        weft_context_switch(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
    note_return(fake, value == from_scheduler);
  } else {
    if (next->stack == nullptr) bind_after_another(worker, *next);
    sanitizer::leave(&fake, next->stack->fiber, next->stack->memory.low, next->stack->size());
    note_return(fake, pass_to(worker, unit, *next) == from_scheduler);
  }
  return 0;
}

}  // namespace

void note_deviation(Worker& worker, Unit& unit) {
  if (!unit.departed) {
    note_departure_from_stack(worker, unit);
    note_first_deviation(worker, unit);
  }
  ++unit.deviations;
}

namespace {

[[gnu::noinline]] int leave_for_the_first_time(Worker& worker, Unit& unit, Event event) {
  note_deviation(worker, unit);
  note_left(worker, unit, event);
  return pass_on(worker, unit, event, next_to_switch_to(worker, unit));
}

}  // namespace

// From unit to unit where that can be, with the switch as the last call of all that led to it: so the processor's
// return predictor is right most of the time. By way of the scheduler it is wrong several times (25 ns for all). What
// is needed after the look for the next one stands in the worker, so that no register is saved for it.
int leave_unit(Worker& worker, Unit& unit, Event event) {
  if (!unit.departed) {
    if (!note_first_deviation_quickly(worker, unit)) [[unlikely]]
      return leave_for_the_first_time(worker, unit, event);
    note_departure_from_stack(worker, unit);
  }
  ++unit.deviations;
  note_left(worker, unit, event);
  Unit* next = next_to_switch_to(worker, unit);
  Worker& same = *this_worker();
  return pass_on(same, *same.left, static_cast<Event>(same.left_by), next);
}

int leave_unit_for(Worker& worker, Unit& unit, Event event, Unit& next) {
  note_deviation(worker, unit);
  note_left(worker, unit, event);
  return pass_on(worker, unit, event, &next);
}

int leave_unit_to_scheduler(Worker& worker, Unit& unit, Event event) {
  note_deviation(worker, unit);
  return pass_on(worker, unit, event, nullptr);
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

}  // namespace weft::core

using namespace weft::core;

extern "C" WeftSuccessor weft_unit_ends() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (worker.warm == unit.stack) worker.warm = nullptr;  // it exits, and settle() gives the stack back
  Unit* next = next_to_switch_to(worker, unit);
  if (next == nullptr) {
    sanitizer::leave(nullptr, worker.frame_fiber, worker.frame_stack, worker.frame_stack_size);
    return {worker.scheduler_context, static_cast<std::uintptr_t>(Event::finished)};
  }
  note_left(worker, unit, Event::finished);
  if (next->departed) {
    note_running(worker, *next);
    sanitizer::leave(nullptr, next->stack->fiber, next->stack->memory.low, next->stack->size());
    return {next->context, weft_to_unit};
  }
  if (next->stack == nullptr) bind_after_another(worker, *next);
  begin_after_another(worker, *next);
  sanitizer::leave(nullptr, next->stack->fiber, next->stack->memory.low, next->stack->size());
  char* top = next->stack->top();
  std::memcpy(top - 16, &worker.fp_control, sizeof worker.fp_control);
  return {top, reinterpret_cast<std::uintptr_t>(next)};
}

extern "C" void weft_unit_passed() {
  Worker& worker = *this_worker();
  settle(worker, *worker.left, static_cast<Event>(worker.left_by));
}

extern "C" WeftCall weft_unit_begin(void* begun) {
  sanitizer::arrive(nullptr, nullptr, nullptr);
  weft_unit_passed();
  const Unit& unit = *static_cast<Unit*>(begun);
  return {unit.entry, unit.argument};
}

extern "C" WeftSuccessor weft_unit_returned() {
  end_call(*this_worker()->current);
  return weft_unit_ends();
}
