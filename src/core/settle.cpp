// A unit that has just left its worker is settled: that it suspends, yields or has ended takes effect only when nothing
// is in use on its stack any more. (But for a yield into a list that is the worker's alone, or that others keep away
// from until the unit is off its stack: yield_unit() in technique/switch.cpp.)
#include "core/create.h"
#include "core/identities.h"
#include "core/scheduler.h"
#include "core/sync/mutex.h"
#include "core/technique/entry.h"

namespace weft::core {
namespace {

void settle_suspended(Worker& worker, Unit& unit) {
  keep_identity(worker, unit);
  UnitState expected = UnitState::suspending;
  // acq_rel: publishes the saved context; sees what the resumer did before an early `ready`.
  if (!unit.state.compare_exchange_strong(expected, UnitState::suspended, std::memory_order_acq_rel))
    put_ready(worker, unit);
}

// To the unit that goes on here now, if it wants that mutex and nobody has been waiting for it (sync/condition.h).
void unlock_or_hand_on(Worker& worker) {
  Mutex& mutex = *worker.unsettled.locked;
  worker.unsettled.locked = nullptr;
  const Unit* next = worker.current;
  if (next != nullptr && next->stack->relocks == &mutex && mutex.held_and_not_awaited())
    next->stack->relocks = nullptr;
  else
    mutex.unlock();
}

void settle_parked(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::suspended, std::memory_order_relaxed);
  worker.unsettled.parked_under->unlock();
  if (worker.unsettled.locked != nullptr) unlock_or_hand_on(worker);
}

[[gnu::noinline]] void settle_finished_slowly(Worker& worker, Unit& unit) {
  drop_identity(worker, unit);
  if (binds_early(unit) || unit.stack == nullptr) {
    tell_end(worker, unit);
    return;
  }
  Stack* stack = unit.stack;
  unit.stack = nullptr;
  tell_end(worker, unit);  // from then on the unit may be gone
  worker.stacks.give(stack);
}

// The same, of a free-standing unit that has a stack of weft's and no identity of its own.
[[gnu::noinline]] void settle_finished_and_give_stack(Worker& worker, Unit& unit) {
  Stack* stack = unit.stack;
  unit.stack = nullptr;
  end_free_standing(worker, unit);
  worker.stacks.give(stack);
}

}  // namespace

[[gnu::noinline]] void settle_finished(Worker& worker, Unit& unit) {
  constexpr unsigned others = UnitFlag::wants_identity | UnitFlag::own_memory;
  const unsigned flags = unit.flags.load(std::memory_order_relaxed) & (others | UnitFlag::free_standing);
  if (flags != UnitFlag::free_standing || unit.stack == nullptr) [[unlikely]]
    return settle_finished_slowly(worker, unit);
  // Before the end is told: the unit may be gone then. Nobody runs on that stack any more.
  const bool keeps_stack = binds_at_creation(unit.technique);
  if (!keeps_stack && (unit.technique != Technique::full_l || !give_stack_quickly(worker, unit)))
    return settle_finished_and_give_stack(worker, unit);
  end_free_standing(worker, unit);
}

// A function for each event, so that none saves registers for the others.
void settle(Worker& worker, Unit& unit, Event event) {
  switch (event) {
    case Event::returned:
      return;
    case Event::suspended:
      return settle_suspended(worker, unit);
    case Event::parked:
      return settle_parked(worker, unit);
    case Event::yielded:
      return put_back_yielded(worker, unit);
    case Event::finished:
      return settle_finished(worker, unit);
  }
}

}  // namespace weft::core
