// Free-standing units: created one by one, joined, freed, revived. (The member of a team is not one: its team knows
// when it is done.)
//
// The word Unit::waiters tells the end, once and for all who want to know: nullptr while nobody waits, a chain of
// joiners (linked by Unit::next), or one of two marks. Its change to done_mark is the last access to a unit that is
// not detached: from then on a joiner may free it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/unit.h"
#include "core/worker.h"

namespace weft::core {

/// How a unit shall be; what weft.h calls weft_unit_attr.
struct Wish {
  Technique technique = Technique::automatic;
  std::size_t stack_size = 0;
  void* stack = nullptr;
  Pool* pool = nullptr;
  int priority = 0;
  std::uint8_t flags = 0;  // UnitFlag::wants_identity, UnitFlag::detached
  const char* name = nullptr;
};

extern Unit done_mark;
extern Unit detached_mark;

inline bool is_done(const Unit& unit) { return unit.waiters.load(std::memory_order_acquire) == &done_mark; }

/// A unit that will run entry(argument), in no pool yet; nullptr without memory.
Unit* make_unit(Worker& worker, void (*entry)(void*), void* argument, const Wish& wish);

/// Makes a created unit ready: puts it where it belongs.
void launch(Worker& worker, Unit& unit);
/// The same for a chain of `count`, linked by Unit::next, that all belong to the same pool.
void launch_all(Worker& worker, Unit* first, Unit* last, std::size_t count);

/// Waits until the unit is done. Not for a unit that may not wait.
void wait_for_end(Unit& unit);

/// Has `then`, made but not launched, run when the unit is done. False: it is done already.
bool run_after(Unit& unit, Unit& then);

/// Gives a unit back that is done, and that nobody waits for any more.
void free_unit(Worker& worker, Unit& unit);

/// Nobody will join the unit. False: somebody does already.
bool detach(Unit& unit);

/// Prepares a unit that is done to run once more.
void renew(Unit& unit, void (*entry)(void*), void* argument);

/// Ends the calling unit, which has a stack, here and now.
[[noreturn]] void exit_unit(Unit& unit);

/// For free-standing units: waits for grant(), unless that has come already.
void wait_for_grant(Unit& unit);
/// Makes the unit go on, or its next wait_for_grant() return at once. False: it has a grant that it has not used.
bool grant(Unit& unit);

/// From technique/start.cpp: the end of a free-standing unit, off its stack.
void end_free_standing(Worker& worker, Unit& unit);
/// The same, still on it: destructors of its unit-local values.
void end_extras(Unit& unit);

}  // namespace weft::core
