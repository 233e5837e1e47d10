// A unit that is run by the one that joins it: where what the joiner waits for is what its worker would go on with, or
// nearly, the joiner calls it, as the scheduler would (RoC-L, RoC), and goes on when it returns. So to create a unit
// and to join it is to call it, on a stack of its own, and recursion that forks and joins goes through no scheduler.
//
// While it runs, the joiner is what one is that has suspended: its context is saved, and whoever resumes it continues
// it. Only who waits for what is written down elsewhere, in the descriptor of the stack (Stack::joiner), until the unit
// deviates. Then the joiner becomes one of those that wait for it like any other (join_as_others), the unit goes its
// own way (its return is diverted, as for any unit of RoC), and nobody returns here; the joiner's own way back is
// changed when it is continued, as that of a creator whose child has been left (child_first.h). So joiners that lie on
// top of each other need nothing done about them when the topmost unit deviates: each waits for the next one already.
//
// Nobody else can resume the joiner: it is in no pool, and in nobody's list of waiters until that moment, and who has
// it in hand then waits for the end of the unit, which comes off its stack first.
//
// Only the unit itself is run so, nothing that comes before it, so that a joiner is never kept from going on by another
// unit than the one it waits for.
//
// What the scheduler would ask between two units is asked here (is_free_for_units).
#include "arch/context.h"
#include "core/create.h"
#include "core/find.h"
#include "core/idle.h"
#include "core/own_scheduler.h"
#include "core/segment.h"
#include "core/technique/entry.h"

namespace weft::core {
namespace {

// Whether the joiner can be left by what it calls, and go on on any worker and KLT.
bool may_call(const Unit& joiner) {
  constexpr unsigned bound = UnitFlag::wants_identity | UnitFlag::placed | UnitFlag::yields_by_signal |
                             UnitFlag::switches_klt | UnitFlag::wants_klt | UnitFlag::holds_klt;
  return may_wait(joiner) &&
         (joiner.flags.load(std::memory_order_relaxed) & (bound | UnitFlag::free_standing)) == UnitFlag::free_standing;
}

// Whether it begins here, and nothing but a worker and a stack has to be had for it.
bool may_be_called(const Worker& worker, const Unit& unit) {
  constexpr unsigned plain =
      UnitFlag::free_standing | UnitFlag::chosen | UnitFlag::detailed | UnitFlag::never_preempted;
  const auto start = std::bit_cast<UnitStart>(load_start(unit));
  return start.state == UnitState::created && !start.departed && (start.flags | plain) == plain &&
         start.birth == worker.index;
}

bool returns(Technique technique) {
  return technique == Technique::automatic || technique == Technique::roc_l || technique == Technique::roc ||
         technique == Technique::stackless;
}

// Units that may stand before it, or between it and the joiner: a joiner suspends once for all that it joins, and the
// others run in one row meanwhile, which costs less where they are more than these.
constexpr unsigned most_others = 3;

// Whether it is what comes soon where the worker alone takes from, and the joiner not much later.
[[gnu::noinline]] bool is_soon_in_own_list(const Scheduler& own, const Unit& awaited) {
  const Pool* list = own.private_list();
  if (list == nullptr || list != awaited.pool.load(std::memory_order_relaxed)) return false;
  if (list->lifo_ring() != nullptr) return list->lifo_ring()->is_among_next(&awaited, 1 + most_others);
  return list->size() <= 1 + most_others && list->fifo_ring()->is_among_next(&awaited, 1);
}
inline bool is_soon(const Worker& worker, const Unit& awaited) {
  if (const Scheduler* own = worker.scheduler(); own != nullptr) return is_soon_in_own_list(*own, awaited);
  return awaited.pool.load(std::memory_order_relaxed) == nullptr &&
         worker.deque.is_among_newest(&awaited, 1 + most_others);
}

// Takes it out, of which is_soon() is true. False: others may be at it, or a thief was faster.
bool take(Worker& worker, const Unit& awaited) {
  if (const Scheduler* own = worker.scheduler(); own != nullptr) return own->private_list()->remove(&awaited);
  if (worker.deque.peek() == &awaited) return take_newest(worker) == &awaited;
  if (!worker.privacy.enter()) return false;
  const bool taken = worker.deque.remove_alone(&awaited);
  worker.privacy.leave();
  return taken;
}

// Whether nothing but units has a claim to the worker, and none of them has waited for too long. (In a private list the
// order says who waits.)
bool is_free_for_units(Worker& worker) {
  if (!worker.claims.none() || worker.handed_on != nullptr || is_over(worker)) return false;
  return worker.scheduler() != nullptr ||
         (worker.attended.load(std::memory_order_relaxed) == nullptr &&
          worker.lends_within.load(std::memory_order_relaxed) == nullptr && !is_turn_of_others(worker));
}

#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
// Where sanitizers follow the stacks: the unit's first and last words on its own.
void entry(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  const Stack& home = *unit->stack->joiner->stack;
  sanitizer::arrive(nullptr, nullptr, nullptr);
  call_unit(*unit);
  // A diverted unit announces its departure in weft_unit_finish().
  if (!unit->departed) sanitizer::leave(nullptr, home.fiber, home.memory.low, home.size());
}
#endif

// Calls the unit's function on its stack, and returns when it has returned, or when the joiner has been resumed.
inline void call(Unit& joiner, const Unit& unit, Stack& stack, weft_fp_control words) {
#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
  void* fake = nullptr;
  sanitizer::leave(&fake, stack.fiber, stack.memory.low, stack.size());
  const std::intptr_t resumer =
      weft_context_start_roc(&joiner.context, stack.top(), &entry, const_cast<Unit*>(&unit), words);
  note_return(fake, resumer == from_scheduler);
#else
  weft_context_start_roc(&joiner.context, stack.top(), unit.entry, unit.argument, words);
#endif
}

// The joiner goes on when the unit has gone its own way, and has ended; perhaps on another worker.
[[gnu::noinline]] void go_on_after_deviation(Unit& joiner, bool departed_before) {
  ++joiner.deviations;
  if (departed_before) return;
  Worker& here = *this_worker();
  ++here.counters.promoted_to_stack;
  note_first_deviation(here, joiner);
}

// Has taken the unit out of its pool, and has a stack for it.
[[gnu::always_inline]] inline void call_for_joiner(Worker& worker, Unit& joiner, Unit& unit, Stack& stack,
                                                   weft_fp_control words) {
  const bool departed_before = joiner.departed;
  if (worker.warm == joiner.stack) worker.warm = nullptr;  // the joiner may go on elsewhere
  stack.joiner = &joiner;
  joiner.departed = true;  // who finds it continues it
  joiner.place = static_cast<std::uint16_t>(worker.index);
  joiner.state.store(UnitState::suspended, std::memory_order_relaxed);
  begin(worker, unit, &stack, stack.top());
  call(joiner, unit, stack, words);
  if (joiner.state.load(std::memory_order_relaxed) != UnitState::suspended) [[unlikely]]
    return go_on_after_deviation(joiner, departed_before);
  if constexpr (!sanitizer::active) end_call_on(stack, unit, words);
  stack.joiner = nullptr;
  joiner.departed = departed_before;
  joiner.state.store(UnitState::running, std::memory_order_relaxed);
  end_undeviated(worker, unit);
  worker.current = &joiner;
}

// A stackless one: on the stack of the joiner, which cannot be left meanwhile, if that has as much room as a
// scheduler's.
[[gnu::noinline]] bool try_to_call_stackless(Worker& worker, Unit& joiner, Unit& awaited) {
  if (stack_left() < scheduler_stack_bytes || !take(worker, awaited)) return false;
  joiner.state.store(UnitState::suspended, std::memory_order_relaxed);
  begin(worker, awaited);
  call_unit(awaited);
  joiner.state.store(UnitState::running, std::memory_order_relaxed);
  end_undeviated(worker, awaited);
  worker.current = &joiner;
  return true;
}

// By a joiner that may. False: something has come between, or it would run otherwise than on a scheduler.
[[gnu::noinline]] bool try_to_call(Worker& worker, Unit& joiner, Unit& awaited) {
  const weft_fp_control words = weft_context_fp_control();
  if (!have_same_modes(words, worker.fp_control)) return false;
  if (awaited.technique == Technique::stackless) [[unlikely]]
    return try_to_call_stackless(worker, joiner, awaited);
  Stack* stack = awaited.stack != nullptr ? awaited.stack : take_stack_if_there_is(worker, awaited.stack_class);
  if (stack == nullptr) return false;
  if (!take(worker, awaited)) [[unlikely]] {
    if (awaited.stack == nullptr) worker.stacks.give(stack);
    return false;
  }
  // What is chosen for others of its kind, because they deviate, would cost no less here.
  if (awaited.technique == Technique::automatic) {
    (void)choose(worker.choices, awaited.entry);
    awaited.technique = Technique::roc_l;
  }
  call_for_joiner(worker, joiner, awaited, *stack, words);
  return true;
}

}  // namespace

// Every call is the last thing in it, so that who may not pays little for the question.
bool run_by_joiner(Worker& worker, Unit& awaited) {
  Unit* joiner = worker.current;
  if (joiner == nullptr || !may_call(*joiner) || !may_be_called(worker, awaited) || !returns(awaited.technique) ||
      !is_soon(worker, awaited) || !is_free_for_units(worker))
    return false;
  return try_to_call(worker, *joiner, awaited);
}

}  // namespace weft::core
