// Between unit and scheduler, after the start: leaving a unit and coming back to it. And between units: one that leaves
// continues the next, or starts it where that is a switch anyway (Full, Full-L).
#include <cstddef>
#include <cstring>

#include "core/fork.h"
#include "core/own_scheduler.h"
#include "core/technique/choice.h"
#include "core/technique/entry.h"
#include "core/technique/pass.h"
#include "core/technique/start.h"

#include "arch/context.h"
#include "core/sanitizer.h"

namespace weft::core {

static_assert(offsetof(Unit, argument) == weft_argument_offset && offsetof(Unit, entry) == weft_entry_offset);

// The way back that the unit was started with leads into frames that will not be there.
void note_first_deviation(Worker& worker, Unit& unit) {
  if (worker.undeviated.stack == unit.stack) worker.undeviated.stack = nullptr;
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

// Whether it has a stack now, without more than a few instructions. If not, it begins by way of the scheduler, and what
// maps a stack for it runs there. (Bug: on the leaving one's it was so deep that one in five units that wait, which
// had used one page of its stack, kept two.)
[[gnu::always_inline]] inline bool is_bound_quickly(Worker& worker, Unit& unit) {
  if (unit.stack == nullptr) unit.stack = take_stack_at_hand(worker, unit.stack_class);
  return unit.stack != nullptr;
}

// It is off its stack, and the next one on its own, when it is settled (weft_unit_passed, weft_unit_passed_by_end).
[[gnu::always_inline]] inline void note_left(Worker& worker, Unit& unit, Event event) {
  worker.unsettled.unit = &unit;
  worker.unsettled.event = static_cast<std::intptr_t>(event);
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

// Of one that has not departed. False: there is more to do, and nothing has happened.
inline bool note_departure_quickly(Worker& worker, Unit& unit) {
  if (!note_first_deviation_quickly(worker, unit)) [[unlikely]]
    return false;
  note_departure_from_stack(worker, unit);
  return true;
}

[[gnu::noinline]] int pass_to_new(Worker& worker, Unit& unit, Unit& next) {
  begin(worker, next);
  return weft_context_pass_to_new(&unit.context, next.stack->top(), &next, worker.fp_control);
}

// Leaves the unit, of which note_left() has told, for `next`, which has its stack.
[[gnu::always_inline]] inline int pass_to(Worker& worker, Unit& unit, Unit& next) {
  if (!next.departed) return pass_to_new(worker, unit, next);
  note_running(worker, next);
  return weft_context_pass(&unit.context, next.context);
}

// The same, or for the scheduler, which has to begin it or, if there is none, to find one.
inline int pass_on(Worker& worker, Unit& unit, Event event, Unit* next) {
  if (next != nullptr && !next->departed && !is_bound_quickly(worker, *next)) [[unlikely]] {
    worker.handed_on = next;
    next = nullptr;
  }
  if constexpr (!sanitizer::active) {
    if (next == nullptr) [[unlikely]]
      return weft_context_leave(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
    return pass_to(worker, unit, *next);
  }
  void* fake = nullptr;
  if (next == nullptr) {
    sanitizer::leave(&fake, worker.sanitizer.fiber, worker.sanitizer.stack, worker.sanitizer.stack_size);
    const std::intptr_t value =
        weft_context_switch(&unit.context, worker.scheduler_context, static_cast<std::intptr_t>(event));
    note_return(fake, value == from_scheduler);
  } else {
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

// nullptr: the scheduler. For a unit that yields as in count_direct_yield().
[[gnu::always_inline]] inline Unit* next_after(Worker& worker, const Unit& unit, Event event) {
  if (event == Event::yielded && worker.turns.direct_switches == 0) [[unlikely]]
    return nullptr;
  return next_to_switch_to(worker, unit);
}

[[gnu::noinline]] int leave_for_the_first_time(Worker& worker, Unit& unit, Event event) {
  note_deviation(worker, unit);
  note_left(worker, unit, event);
  return pass_on(worker, unit, event, next_after(worker, unit, event));
}

}  // namespace

// From unit to unit where that can be, with the switch as the last call of all that led to it: so the processor's
// return predictor is right most of the time. By way of the scheduler it is wrong several times (25 ns for all). What
// is needed after the look for the next one stands in the worker, so that no register is saved for it.
[[gnu::noinline]] int leave_unit(Worker& worker, Unit& unit, Event event) {
  if (!unit.departed && !note_departure_quickly(worker, unit)) [[unlikely]]
    return leave_for_the_first_time(worker, unit, event);
  ++unit.deviations;
  note_left(worker, unit, event);
  Unit* next = next_after(worker, unit, event);
  Worker& same = *this_worker();
  return pass_on(same, *same.unsettled.unit, static_cast<Event>(same.unsettled.event), next);
}

namespace {

// A unit that yields into a list that is its worker's alone may stand there while it is still on its stack: nobody
// takes it out before the worker goes on, and that is on the next unit's stack. So nothing has to be done about it
// afterwards.

// False: that takes longer, and nothing has happened.
[[gnu::always_inline]] inline bool take_turns(Unit& unit, Ring<Order::fifo>& list) {
  if (!list.rotate(&unit)) [[unlikely]]
    return false;
  ++unit.deviations;
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  return true;
}

// Where sanitizers follow the stacks, by the same functions as all that leave: weft_unit_passed() then finds that
// nothing is due.
[[maybe_unused]] int pass_on_settled(Worker& worker, Unit& unit, Unit& next) {
  note_left(worker, unit, Event::returned);
  return pass_on(worker, unit, Event::returned, &next);
}

[[gnu::noinline]] int swap_to_new(Worker& worker, Unit& unit, Unit& next) {
  begin(worker, next);
  return weft_context_swap_to_new(&unit.context, next.stack->top(), &next, worker.fp_control);
}

// The next one has its stack.
[[gnu::always_inline]] inline int take_turns_with_bound(Worker& worker, Unit& unit, Ring<Order::fifo>& list,
                                                        Unit& next) {
  if (!take_turns(unit, list)) [[unlikely]]
    return leave_unit(worker, unit, Event::yielded);
  if constexpr (sanitizer::active) return pass_on_settled(worker, unit, next);
  return swap_to_new(worker, unit, next);
}

// Whether that unit, which has not begun, starts by a switch. Its technique is settled then, unless more than a few
// instructions are needed for that: the answer is no.
[[gnu::always_inline]] inline bool starts_by_switch_quickly(Worker& worker, Unit& unit) {
  Technique technique = unit.technique;
  if (technique == Technique::automatic)
      [[likely]] {  // that lies on the straight way, and the rest is one jump over it
    if (!choose_as_before(worker.choices, unit.entry, technique)) [[unlikely]]
      return false;
    unit.technique = technique;
  }
  return starts_by_switch(technique);
}

// To the first of the list, which has not begun. Whatever it calls is its last call, so that it saves no registers.
int take_turns_with_new(Worker& worker, Unit& unit, Ring<Order::fifo>& list, Unit& next);

[[gnu::noinline]] int take_turns_when_chosen(Worker& worker, Unit& unit, Ring<Order::fifo>& list, Unit& next) {
  settle_technique(worker, next);
  return take_turns_with_new(worker, unit, list, next);
}

[[gnu::noinline]] int take_turns_with_new(Worker& worker, Unit& unit, Ring<Order::fifo>& list, Unit& next) {
  if (!may_begin_directly(next)) return leave_unit(worker, unit, Event::yielded);
  if (!starts_by_switch_quickly(worker, next)) [[unlikely]]
    return next.technique == Technique::automatic ? take_turns_when_chosen(worker, unit, list, next)
                                                  : leave_unit(worker, unit, Event::yielded);
  if (!unit.departed && !note_departure_quickly(worker, unit)) [[unlikely]]
    return leave_unit(worker, unit, Event::yielded);
  if (count_direct_switch(worker)) return leave_unit_to_scheduler(worker, unit, Event::yielded);
  return is_bound_quickly(worker, next) ? take_turns_with_bound(worker, unit, list, next)
                                        : leave_unit(worker, unit, Event::yielded);
}

// A unit that yields into its worker's deque may stand there while it is still on its stack as well, as long as the
// worker is inside its privacy: who comes to steal waits, and the switch itself is what ends that, when the unit is off
// its stack. If somebody sleeps, who would have to be told of the unit, it goes the long way; and one that is about to
// sleep looks once more, and does not find the deque empty (Deque::rotate_alone). Not where sanitizers follow the
// stacks.
[[gnu::always_inline]] inline bool may_stand_in_deque(const Unit& unit) {
  // acquire: partner of whoever has just told it to migrate (weft_unit_migrate).
  return runtime.sleepers.load(std::memory_order_relaxed) <= 0 && unit.pool.load(std::memory_order_acquire) == nullptr;
}

// Inside, with the next one at the deque's new end. False: that takes longer, and nothing has happened.
[[gnu::always_inline]] inline bool take_turns_in_deque(Worker& worker, Unit& unit) {
  if (!worker.deque.rotate_alone(&unit)) [[unlikely]]
    return false;
  ++unit.deviations;
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  return true;
}

[[gnu::noinline]] int leave_after_all(Worker& worker, Unit& unit) {
  worker.privacy.leave();
  return leave_unit(worker, unit, Event::yielded);
}

[[gnu::noinline]] int leave_to_scheduler_after_all(Worker& worker, Unit& unit) {
  worker.privacy.leave();
  return leave_unit_to_scheduler(worker, unit, Event::yielded);
}

[[gnu::noinline]] int yield_into_deque_to_new(Worker& worker, Unit& unit, Unit& next) {
  if (!may_begin_directly(next) || !starts_by_switch_quickly(worker, next) || !is_bound_quickly(worker, next) ||
      (!unit.departed && !note_departure_quickly(worker, unit)))
    return leave_after_all(worker, unit);
  if (count_direct_yield(worker)) return leave_to_scheduler_after_all(worker, unit);
  if (!take_turns_in_deque(worker, unit)) return leave_after_all(worker, unit);
  begin(worker, next);
  return weft_context_swap_to_new_and_clear(&unit.context, next.stack->top(), &next, worker.fp_control,
                                            worker.privacy.inside());
}

[[gnu::noinline]] int yield_into_deque(Worker& worker, Unit& unit) {
  if (!frame_can_wait(worker) || !may_stand_in_deque(unit) || !worker.privacy.enter())
    return leave_unit(worker, unit, Event::yielded);
  Unit* next = worker.deque.peek();
  if (next == nullptr) return leave_after_all(worker, unit);
  if (!next->departed) return yield_into_deque_to_new(worker, unit, *next);
  if (!unit.departed || !runs_on_any_identity(*next)) return leave_after_all(worker, unit);
  if (count_direct_yield(worker)) return leave_to_scheduler_after_all(worker, unit);
  if (!take_turns_in_deque(worker, unit)) return leave_after_all(worker, unit);
  note_running(worker, *next);
  return weft_context_swap_and_clear(&unit.context, next->context, worker.privacy.inside());
}

}  // namespace

int yield_unit(Worker& worker, Unit& unit) {
  const Scheduler* own = worker.scheduler();
  if (own == nullptr)
    return sanitizer::active ? leave_unit(worker, unit, Event::yielded) : yield_into_deque(worker, unit);
  Ring<Order::fifo>* list = own->private_fifo();
  Unit* next = nullptr;
  // acquire: partner of whoever has just told it to migrate (weft_unit_migrate).
  if (list == nullptr || unit.pool.load(std::memory_order_acquire) != &Pool::of(*list) || !list->peek(next) ||
      !frame_can_wait(worker))
    return leave_unit(worker, unit, Event::yielded);
  if (!next->departed) return take_turns_with_new(worker, unit, *list, *next);
  if (!unit.departed || !runs_on_any_identity(*next)) return leave_unit(worker, unit, Event::yielded);
  if (count_direct_switch(worker)) return leave_unit_to_scheduler(worker, unit, Event::yielded);
  if (!take_turns(unit, *list)) [[unlikely]]
    return leave_unit(worker, unit, Event::yielded);
  if constexpr (sanitizer::active) return pass_on_settled(worker, unit, *next);
  note_running(worker, *next);
  return weft_context_swap(&unit.context, next->context);
}

namespace {

[[gnu::noinline]] int yield_to_first_of_list(Worker& worker, Unit& unit, Unit& next, int (*otherwise)(Unit& next)) {
  Ring<Order::fifo>* list = worker.scheduler()->private_fifo();
  Unit* first = nullptr;
  if (list == nullptr || unit.pool.load(std::memory_order_acquire) != &Pool::of(*list) || !list->peek(first) ||
      first != &next || !take_turns(unit, *list))
    return otherwise(next);
  note_running(worker, next);
  return weft_context_swap(&unit.context, next.context);
}

}  // namespace

int yield_to_first(Worker& worker, Unit& unit, Unit& next, int (*otherwise)(Unit& next)) {
  if (sanitizer::active || !unit.departed || !next.departed || !runs_on_any_identity(next) || !frame_can_wait(worker))
    return otherwise(next);
  if (worker.scheduler() != nullptr) return yield_to_first_of_list(worker, unit, next, otherwise);
  if (worker.deque.peek() != &next || !may_stand_in_deque(unit) || count_direct_switch(worker) ||
      !worker.privacy.enter())
    return otherwise(next);
  if (worker.deque.peek() != &next || !take_turns_in_deque(worker, unit)) {
    worker.privacy.leave();
    return otherwise(next);
  }
  note_running(worker, next);
  return weft_context_swap_and_clear(&unit.context, next.context, worker.privacy.inside());
}

int leave_unit_for(Worker& worker, Unit& unit, Event event, Unit& next) {
  note_deviation(worker, unit);
  note_left(worker, unit, event);
  return pass_on(worker, unit, event, &next);
}

[[gnu::noinline]] int leave_unit_to_scheduler(Worker& worker, Unit& unit, Event event) {
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

namespace {

// Into what is there already; `next` is the worker's.
[[gnu::always_inline]] inline WeftSuccessor succeed(Worker& worker, Unit& unit, Unit& next) {
  worker.unsettled.unit = &unit;
  if (next.departed) {
    note_running(worker, next);
    sanitizer::leave(nullptr, next.stack->fiber, next.stack->memory.low, next.stack->size());
    return {next.context, weft_to_unit};
  }
  begin(worker, next);
  sanitizer::leave(nullptr, next.stack->fiber, next.stack->memory.low, next.stack->size());
  char* top = next.stack->top();
  std::memcpy(top - 16, &worker.fp_control, sizeof worker.fp_control);
  return {top, reinterpret_cast<std::uintptr_t>(&next)};
}

[[gnu::always_inline]] inline WeftSuccessor succeed_by_scheduler(Worker& worker) {
  sanitizer::leave(nullptr, worker.sanitizer.fiber, worker.sanitizer.stack, worker.sanitizer.stack_size);
  return {worker.scheduler_context, static_cast<std::uintptr_t>(Event::finished)};
}

[[gnu::always_inline]] inline WeftSuccessor succeed_if_bound(Worker& worker, Unit& unit, Unit& next) {
  if (next.departed || is_bound_quickly(worker, next)) [[likely]]
    return succeed(worker, unit, next);
  worker.handed_on = &next;
  return succeed_by_scheduler(worker);
}

}  // namespace

extern "C" WeftSuccessor weft_unit_ends() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (worker.undeviated.stack == unit.stack)
    worker.undeviated.stack = nullptr;  // it exits, and settle() gives the stack back
  Unit* next = worker.until_done != &unit ? next_to_switch_to(worker, unit) : nullptr;
  return next != nullptr ? succeed_if_bound(worker, unit, *next) : succeed_by_scheduler(worker);
}

extern "C" void weft_unit_passed() {
  Worker& worker = *this_worker();
  settle(worker, *worker.unsettled.unit, static_cast<Event>(worker.unsettled.event));
}

extern "C" void weft_unit_passed_by_end() {
  Worker& worker = *this_worker();
  settle_finished(worker, *worker.unsettled.unit);
}

extern "C" WeftCall weft_unit_begin(void* begun) {
  sanitizer::arrive(nullptr, nullptr, nullptr);
  weft_unit_passed();
  const Unit& unit = *static_cast<Unit*>(begun);
  return {unit.entry, unit.argument};
}

extern "C" WeftCall weft_unit_begin_after_end(void* begun) {
  sanitizer::arrive(nullptr, nullptr, nullptr);
  weft_unit_passed_by_end();
  const Unit& unit = *static_cast<Unit*>(begun);
  return {unit.entry, unit.argument};
}

namespace {

[[gnu::noinline]] WeftSuccessor end_detailed() {
  Unit& unit = *this_worker()->current;
  if (is_root(unit)) end_forked();
  end_call(unit);
  return weft_unit_ends();
}

}  // namespace

// Who calls a unit's function straight away, without call_unit() around it (a row, a joiner), sees to what is due after
// it when that comes back. One that has deviated comes here.
extern "C" WeftSuccessor weft_diverted_unit_returned() {
  return has_flag(*this_worker()->current, UnitFlag::detailed) ? end_detailed() : weft_unit_ends();
}

// weft_unit_ends(), and quickly where a list that is the worker's alone says who comes next. Here the unit is one that
// began after another, and so never on the warm stack.
extern "C" WeftSuccessor weft_unit_returned() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (has_flag(unit, UnitFlag::detailed)) [[unlikely]]
    return end_detailed();
  const Scheduler* own = worker.scheduler();
  Ring<Order::fifo>* list = own != nullptr ? own->private_fifo() : nullptr;
  Unit* next = nullptr;
  if (list == nullptr || !list->peek(next) || !frame_can_do_without(worker, unit) || !runs_on_any_identity(unit))
    return weft_unit_ends();
  const bool suits = next->departed ? runs_on_any_identity(*next)
                                    : may_begin_directly(*next) && starts_by_switch_quickly(worker, *next);
  if (!suits) return weft_unit_ends();
  if (count_direct_switch(worker)) return succeed_by_scheduler(worker);
  list->drop();
  return succeed_if_bound(worker, unit, *next);
}
