// Free-standing units: created one by one, joined, freed, revived. (The member of a team is not one: its team knows
// when it is done.)
//
// The word Unit::waiters tells the end, once and for all who want to know: nullptr while nobody waits, a chain of
// joiners (linked by Unit::next), or one of two marks. Its change to done_mark is the last access to a unit that is
// not detached: from then on a joiner may free it. The change is an exchange, but for a unit that ends on the worker
// that created it, while that one is left in privacy (core/privacy.h): then it is a load and a store.
//
// Who joins with a time limit must be able to leave before the end, and a link of the chain cannot be taken out: its
// neighbours may go, and the end walks along it, at any time. So such a joiner waits in the parking lot, in the queue
// of the unit's address, and the lowest bit of the word says that the end has to look there; the chain is above it.
//   Joiner:  under the queue's lock (and a visit): done? -> goes on at once; else sets the bit and queues up.
//   Timer:   under the queue's lock: takes the joiner out if it is still there (core/timer.cpp).
//   End:     without the bit, a compare-exchange to done_mark. With it, under the queue's lock: the exchange, and all
//            joiners are taken out.
// So each joiner is taken out once, by the end or by the timer. The end does not look at the unit after the exchange,
// as without the bit: who is queued there at that moment has been queued for this run of this unit, and whoever queues
// up later finds the mark, or a new unit. A joiner does not look at the unit once it is queued: woken means done, and
// not woken means nothing about it. The bit stays when the joiner has left; the end then looks in vain, and so does
// detach(), under the same lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/own_scheduler.h"
#include "core/pool/pool.h"
#include "core/sanitizer.h"
#include "core/scheduler.h"
#include "core/unit.h"
#include "core/worker.h"

namespace weft::core {

/// How a unit shall be; what weft.h calls weft_unit_attr.
struct Wish {
  // The two bytes apart: read as one word right after they were written, they would be waited for.
  Technique technique = Technique::automatic;
  bool needs_fitting = false;                     // one of those that follow says something, or the stack comes first
  std::uint16_t flags = UnitFlag::free_standing;  // and UnitFlag::wants_identity, detached, chosen, own_memory
  std::uint8_t stack_class = 0;                   // Unit::stack_class
  Pool* pool = nullptr;
  Worker* worker = nullptr;  // that it goes to, into the pool if there is one; nullptr: it stays with its creator
  void* stack = nullptr;
  std::size_t stack_size = 0;  // of `stack`
  int priority = 0;
  const char* name = nullptr;
};

extern WholeUnit done_mark;
extern WholeUnit detached_mark;

inline bool is_done(const Unit& unit) { return unit.waiters.load(std::memory_order_acquire) == &done_mark; }

/// The part of making a unit that few need: a stack from the start, a name, a priority. False without memory.
bool fit_out(Worker& worker, Unit& unit, const Wish& wish);

/// Unit::waiters, at its start.
inline Unit* waiters_at_first(unsigned flags) { return (flags & UnitFlag::detached) != 0 ? &detached_mark : nullptr; }

/// Makes a free descriptor a unit that will run entry(argument). Unit::next is as it was left.
inline void set_up(Unit& unit, void (*entry)(void*), void* argument, const UnitStart& start, Pool* pool,
                   Unit* waiters = nullptr) {
  unit.argument = argument;
  store_start(unit, start);
  unit.entry = entry;
  unit.waiters.store(waiters, std::memory_order_relaxed);
  if (unit.pool.load(std::memory_order_relaxed) != pool) unit.pool.store(pool, std::memory_order_relaxed);
}

inline UnitStart start_of_wish(const Worker& worker, const Wish& wish) {
  return {UnitState::created, wish.technique,
          wish.stack_class,   false,
          wish.flags,         static_cast<std::uint16_t>(worker.index)};
}

/// A unit that will run entry(argument), in no pool yet; nullptr without memory.
inline Unit* make_unit(Worker& worker, void (*entry)(void*), void* argument, const Wish& wish) {
  Unit* unit = worker.units.take();
  if (unit == nullptr) [[unlikely]]
    return nullptr;
  set_up(*unit, entry, argument, start_of_wish(worker, wish), wish.pool, waiters_at_first(wish.flags));
  if (wish.needs_fitting && !fit_out(worker, *unit, wish)) [[unlikely]]
    return nullptr;
  return unit;
}

/// Makes a created unit ready: puts it where it belongs.
void launch(Worker& worker, Unit& unit);
/// The same for a chain of `count`, linked by Unit::next, that all belong to the same pool.
void launch_all(Worker& worker, Unit* first, Unit* last, std::size_t count);
/// The same of a chain that ends with nullptr, on that worker, behind what waits there; others may take them. Where the
/// worker has a scheduler of its own, on another (open_worker).
void launch_at(Worker& place, Unit* first);
/// launch_all() by whoever need not be a producer of their pool.
void launch_into(Pool& pool, Unit* first, Unit* last, std::size_t count);

/// Makes the UnitDetails of a unit that is freed as new.
void renew_details(Unit& unit);

/// Gives back what only few units have: a stack of their own, something to say in the second cache line.
inline void strip(Worker& worker, Unit& unit) {
  if (Stack* stack = unit.stack; stack != nullptr) {
    if (has_flag(unit, UnitFlag::own_memory)) [[unlikely]]
      sanitizer::destroy_fiber(stack->fiber);
    else
      worker.stacks.give_of_class(stack, stack_class_or_default(unit.stack_class));
    unit.stack = nullptr;
  }
  unit.deviations = 0;
  unit.moves = 0;
  if (has_flag(unit, UnitFlag::detailed)) [[unlikely]]
    renew_details(unit);
}

/// Where it is a matter of a few instructions: gives the unit's stack back, which it has had since it was created, or
/// started by a switch: so it is one of weft's, and of the size that was asked for. False: nothing has happened.
inline bool give_stack_quickly(Worker& worker, Unit& unit) {
  if (!worker.stacks.give_at_hand(unit.stack, stack_class_or_default(unit.stack_class))) return false;
  unit.stack = nullptr;
  return true;
}

/// strip() where it is a matter of a few instructions: at most a stack of weft's is to be given back. False: nothing
/// has happened.
inline bool strip_quickly(Worker& worker, Unit& unit) {
  constexpr unsigned few = UnitFlag::own_memory | UnitFlag::detailed;
  if ((unit.flags.load(std::memory_order_relaxed) & few) != 0) return false;
  if (unit.stack != nullptr && !give_stack_quickly(worker, unit)) return false;
  unit.deviations = 0;
  unit.moves = 0;
  return true;
}

/// strip() has nothing to do.
inline bool is_bare(const Unit& unit) {
  return unit.stack == nullptr && !unit.departed && !has_flag(unit, UnitFlag::detailed);
}

/// Gives a unit back that is done, and that nobody waits for any more.
inline void free_unit(Worker& worker, Unit& unit) {
  if (!is_bare(unit)) [[unlikely]]
    strip(worker, unit);
  worker.units.give(unit);
}

/// The same of one that was never put anywhere.
inline void discard_unit(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::done, std::memory_order_relaxed);
  free_unit(worker, unit);
}

/// Puts `self`, the caller, among those that wait for the unit: within a visit, where another worker has created it
/// (core/privacy.h). False: it is done.
bool add_waiter(Unit& unit, Unit& self);

/// Waits until the unit is done. Not for a unit that may not wait.
void wait_for_end(Unit& unit);

/// The same, until the deadline at most. False: that has passed.
[[nodiscard]] bool wait_for_end_until(Unit& unit, std::uint64_t deadline);

/// Nobody will join the unit. False: somebody does already.
bool detach(Unit& unit);

/// Prepares a unit that is done to run once more.
void renew(Unit& unit, void (*entry)(void*), void* argument);

/// Ends the calling unit, which has a stack, here and now.
[[noreturn]] void exit_unit(Unit& unit);

/// For free-standing units: waits for grant(), unless that has come already.
void wait_for_grant(Unit& unit);
/// Makes the unit go on, or its next wait_for_grant() return at once. False: it has a grant that it has not used.
/// `yields`: the caller yields, to this unit if it can.
bool grant(Unit& unit, bool yields = false);

/// What few ends have to do: somebody waits, or the end happens where others may come to wait at this moment.
void tell_waiters(Worker& worker, Unit& unit);

/// The end of a unit that this worker has created: tells it where nobody comes to the worker, and nobody waits but
/// `waiter`, who sees to itself. False: tell_waiters() has to follow. Whoever waits from another worker, or detaches
/// the unit, is a visitor (core/privacy.h), and `done` the mark that it looks at: it waits for the word then.
[[gnu::always_inline]] inline bool end_quietly(Worker& worker, Unit& unit, const Unit* waiter = nullptr) {
  unit.state.store(UnitState::done, std::memory_order_relaxed);
  if (!worker.privacy.is_private_after() || unit.waiters.load(std::memory_order_relaxed) != waiter) [[unlikely]]
    return false;
  unit.waiters.store(&done_mark, std::memory_order_release);
  return true;
}

/// From the techniques: the end of a free-standing unit, off its stack.
inline void end_free_standing(Worker& worker, Unit& unit) {
  if (unit.birth != worker.index) [[unlikely]]
    unit.state.store(UnitState::done, std::memory_order_relaxed);
  else if (end_quietly(worker, unit)) [[likely]]
    return;
  tell_waiters(worker, unit);
}

/// The same, still on it: destructors of its unit-local values.
void end_extras(Unit& unit);

}  // namespace weft::core
