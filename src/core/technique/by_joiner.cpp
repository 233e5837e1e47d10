// A unit that is run by the one that joins it: where what the joiner waits for is what its worker would go on with, or
// nearly, the joiner calls it, as the scheduler would (RoC-L, RoC, stackless), and goes on when it returns. So to
// create a unit and to join it is to call it, and recursion that forks and joins goes through no scheduler.
//
// While it runs, the joiner is what any joiner is that has suspended: its context is saved, its state says so, and it
// stands in Unit::waiters. If the unit deviates, nothing is left to do: it goes its own way (its return is diverted, as
// for any unit of RoC), its end resumes the joiner, wherever that is, and nobody returns here. The joiner's own way
// back is changed when it is continued, as that of a creator whose child has been left (child_first.h). The ways
// back of the joiners below it are changed too: each of them waits for the one above already.
//
// If the unit returns, its end is told here, on the joiner's stack. That takes the joiner out of Unit::waiters, by a
// store where nobody else comes to this worker (core/privacy.h: a visitor that finds the unit `done` waits for the
// word, let_end() in core/create.cpp; model: tests/models/privacy.pml, CALLED). Where others wait as well, the joiner
// says that it is `suspending` before, that is on its stack yet: so it is not put into a pool with them. That the unit
// has returned is seen by the joiner's state: who continues a unit makes it `running`.
//
// Only the unit itself is run so, nothing that comes before it, so that a joiner is never kept from going on by another
// unit than the one it waits for. A root that waits for the same unit goes on first, so then the joiner suspends.
//
// What the scheduler would ask between two units is asked here (is_free_for_units).
#include "arch/context.h"
#include "core/create.h"
#include "core/find.h"
#include "core/own_scheduler.h"
#include "core/segment.h"
#include "core/technique/entry.h"
#include "core/technique/pass.h"

namespace weft::core {
namespace {

// Whether the joiner can be left by what it calls, and go on on any worker and KLT.
bool may_call(const Unit& joiner) {
  constexpr unsigned bound = UnitFlag::wants_identity | UnitFlag::placed | UnitFlag::yields_by_signal |
                             UnitFlag::switches_klt | UnitFlag::wants_klt | UnitFlag::holds_klt;
  return may_wait(joiner) &&
         (joiner.flags.load(std::memory_order_relaxed) & (bound | UnitFlag::free_standing)) == UnitFlag::free_standing;
}

// Whether nothing but a worker and a stack has to be had for it, and it begins here.
bool may_be_called(const Worker& worker, const Unit& unit) {
  constexpr unsigned allowed = UnitFlag::chosen | UnitFlag::detailed | UnitFlag::never_preempted;
  return begins_plainly(worker, load_start(unit), allowed);
}

bool returns(Technique technique) {
  return technique == Technique::automatic || technique == Technique::roc_l || technique == Technique::roc ||
         technique == Technique::stackless;
}

// Units that may stand before it in the deque, or between it and the joiner in a list that is first in first out: a
// joiner suspends once for all that it joins, and the others run in one row meanwhile, which costs less where they are
// more than these. In a deque those before it have their turn by time (is_turn_of_others); in a list that is last in
// first out they would have none.
constexpr unsigned most_others = 3;

// Whether it is what comes soon where the worker alone takes from, and the joiner not much later. What others have put
// back stands in no list yet: the scheduler puts it there. (Bug: a unit that forked and joined kept it out for ever.)
[[gnu::noinline]] bool is_soon_in_own_list(const Scheduler& own, const Unit& awaited) {
  const Pool* list = own.private_list();
  if (list == nullptr || list != awaited.pool.load(std::memory_order_relaxed) || list->has_returned() ||
      list->front() != &awaited)
    return false;
  return list->lifo_ring() != nullptr || list->size() <= 1 + most_others;
}
inline bool is_soon(const Worker& worker, const Unit& awaited) {
  if (const Scheduler* own = worker.scheduler(); own != nullptr) return is_soon_in_own_list(*own, awaited);
  return awaited.pool.load(std::memory_order_relaxed) == nullptr &&
         worker.deque.is_among_newest(&awaited, 1 + most_others);
}

// Takes it out, of which is_soon() is true, for a worker that is inside its privacy.
inline bool take_alone(Worker& worker, const Unit& awaited) {
  if (const Scheduler* own = worker.scheduler(); own != nullptr) return own->private_list()->remove(&awaited);
  if (worker.deque.peek() != &awaited) return worker.deque.remove_alone(&awaited);
  worker.deque.drop_alone();
  return true;
}

// The same for one that is not, and the joiner waits for it then. A unit in the midst of the deque stays there.
[[gnu::noinline]] bool take_among_others(Worker& worker, Unit& joiner, Unit& awaited) {
  const Scheduler* own = worker.scheduler();
  const bool taken = own != nullptr ? own->private_list()->remove(&awaited)
                                    : worker.deque.peek() == &awaited && take_newest(worker) == &awaited;
  return taken && add_waiter(awaited, joiner);
}

// Takes it out, and makes the joiner one that waits for it. False: others may be at it, or a thief was faster.
inline bool take(Worker& worker, Unit& joiner, Unit& awaited) {
  if (!worker.privacy.enter()) [[unlikely]]
    return take_among_others(worker, joiner, awaited);
  const bool taken = take_alone(worker, awaited);
  const bool is_first = taken && awaited.waiters.load(std::memory_order_relaxed) == nullptr;
  if (is_first) [[likely]] {
    joiner.next = nullptr;
    awaited.waiters.store(&joiner, std::memory_order_relaxed);
  }
  worker.privacy.leave();
  return is_first || (taken && add_waiter(awaited, joiner));
}

// Whether nothing but units has a claim to the worker, and none of them has waited for too long. (In a private list the
// order says who waits; but what has no pool may wait at its worker, too.)
bool is_free_for_units(Worker& worker) {
  return frame_can_wait(worker) && (worker.scheduler() != nullptr || runs_as_they_come(worker)) &&
         !is_turn_of_others(worker);
}

// ---------------------------------------------------------------- the call

// Calls function(argument) on the unit's stack, and returns when that has, or when the joiner has been resumed.
void call(Unit& joiner, Stack& stack, void (*function)(void*), void* argument, weft_fp_control words) {
  void* fake = nullptr;
  sanitizer::leave(&fake, stack.fiber, stack.memory.low, stack.size());
  const std::intptr_t resumer = weft_context_start_roc(&joiner.context, stack.top(), function, argument, words);
  note_return(fake, resumer == from_scheduler);
}

// Nobody has continued the joiner: what it has called has returned.
bool has_come_back(const Unit& joiner) { return joiner.state.load(std::memory_order_relaxed) == UnitState::suspended; }

// Where sanitizers follow the stacks: the unit's first and last words on its own.
struct Called {
  Unit* unit;
  const Stack* home;
};
[[maybe_unused]] void entry(void* argument) {
  const auto [unit, home] = *static_cast<Called*>(argument);
  sanitizer::arrive(nullptr, nullptr, nullptr);
  call_unit(*unit);
  // A diverted unit announces its departure in weft_unit_ends().
  if (!unit->departed) sanitizer::leave(nullptr, home->fiber, home->memory.low, home->size());
}

// The unit's function, and what is due after it.
inline void call_all_of(Unit& joiner, Unit& unit, Stack& stack, weft_fp_control words) {
  if constexpr (sanitizer::active) {
    Called called{&unit, joiner.stack};
    return call(joiner, stack, &entry, &called, words);
  }
  call(joiner, stack, unit.entry, unit.argument, words);
  if (!has_come_back(joiner) || !has_flag(unit, UnitFlag::detailed)) [[likely]]
    return;
  call(
      joiner, stack, [](void* ended) { end_call(*static_cast<Unit*>(ended)); }, &unit, words);
}

// The joiner goes on when the unit has gone its own way, and has ended; perhaps on another worker.
[[gnu::noinline]] void go_on_after_deviation(Unit& joiner, bool departed_before) {
  ++joiner.deviations;
  if (departed_before) return;
  Worker& here = *this_worker();
  ++here.counters.promoted_to_stack;
  note_first_deviation(here, joiner);
}

// Of a unit that there is more to do about.
[[gnu::noinline]] void end_not_plainly(Worker& worker, Unit& joiner, Unit& unit) {
  joiner.state.store(UnitState::suspending, std::memory_order_relaxed);
  end_undeviated(worker, unit, &joiner);
}

// Of one that others wait for, too, or may come to.
[[gnu::noinline]] void tell_others(Worker& worker, Unit& joiner, Unit& unit) {
  joiner.state.store(UnitState::suspending, std::memory_order_relaxed);
  unit.state.store(UnitState::done, std::memory_order_relaxed);
  tell_waiters(worker, unit);
}

// The unit has returned to the joiner, which goes on.
inline void end_for_joiner(Worker& worker, Unit& joiner, Unit& unit) {
  worker.current = &joiner;  // before the unit may be gone
  if (!ends_plainly(unit)) [[unlikely]]
    end_not_plainly(worker, joiner, unit);
  else if (joiner.next != nullptr || !end_quietly(worker, unit, &joiner)) [[unlikely]]
    tell_others(worker, joiner, unit);
  joiner.state.store(UnitState::running, std::memory_order_relaxed);
}

[[gnu::always_inline]] inline void call_for_joiner(Worker& worker, Unit& joiner, Unit& unit, Stack& stack,
                                                   weft_fp_control words) {
  const bool gives_stack = !binds_early(unit);
  const bool departed_before = leave_behind(worker, joiner, UnitState::suspended);
  begin(worker, unit, &stack, stack.top());
  call_all_of(joiner, unit, stack, words);
  if (!has_come_back(joiner)) [[unlikely]]
    return go_on_after_deviation(joiner, departed_before);
  joiner.departed = departed_before;
  if (gives_stack) {
    worker.stacks.give(&stack);
    unit.stack = nullptr;
  }
  end_for_joiner(worker, joiner, unit);
}

// A stackless one: on the stack of the joiner, which cannot be left meanwhile, if that has as much room as a
// scheduler's.
[[gnu::noinline]] bool try_to_call_stackless(Worker& worker, Unit& joiner, Unit& awaited, weft_fp_control words) {
  if (stack_left() < scheduler_stack_bytes || !take(worker, joiner, awaited)) return false;
  joiner.state.store(UnitState::suspended, std::memory_order_relaxed);
  begin(worker, awaited);
  call_unit(awaited);
  arch::load_fp_control(words);
  end_for_joiner(worker, joiner, awaited);
  return true;
}

// By a joiner that may. False: something has come between, or it would run otherwise than on a scheduler.
[[gnu::noinline]] bool try_to_call(Worker& worker, Unit& joiner, Unit& awaited) {
  const weft_fp_control words = arch::fp_control();
  if (!arch::have_same_modes(words, worker.fp_control)) return false;
  const Technique technique = awaited.technique;
  if (technique == Technique::stackless) [[unlikely]]
    return try_to_call_stackless(worker, joiner, awaited, words);
  // Until it is taken a thief may begin it, so its own stack is not looked at before.
  const bool has_stack = binds_at_creation(technique);
  Stack* stack = has_stack ? nullptr : take_stack_if_there_is(worker, awaited.stack_class);
  if (!has_stack && stack == nullptr) [[unlikely]]
    return false;
  if (!take(worker, joiner, awaited)) [[unlikely]] {
    if (!has_stack) worker.stacks.give(stack);
    return false;
  }
  // What is chosen for others of its kind, because they deviate, would cost no less here.
  if (technique == Technique::automatic) {
    (void)choose(worker.choices, awaited.entry);
    awaited.technique = Technique::roc_l;
  }
  call_for_joiner(worker, joiner, awaited, has_stack ? *awaited.stack : *stack, words);
  return true;
}

}  // namespace

// Every call is the last thing in it, so that who may not pays little for the question.
bool run_by_joiner(Worker& worker, Unit& awaited) {
  Unit* joiner = worker.current;
  if (joiner == nullptr || !may_call(*joiner) || !may_be_called(worker, awaited) || !returns(awaited.technique) ||
      !is_soon(worker, awaited) || worker.until_done == &awaited || !is_free_for_units(worker))
    return false;
  return try_to_call(worker, *joiner, awaited);
}

}  // namespace weft::core
