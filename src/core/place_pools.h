// Place pools (dissertation, Fig. 4.6): where ready units wait that must run at one place, a set of CPUs.
//
// A placed unit (UnitFlag::placed) has the pool of its place as its own (Unit::pool): wherever it becomes ready, it
// goes there, and only the workers that attend that pool take it. So it stays at its place and no KLT has to move. Each
// worker attends one pool, in turn, a root that of the first place; there are at most as many pools as
// workers, so none is without. Places that share a pool share its workers, whose KLT is bound anew from one unit to the
// next (Hooks::take_place); so it is for the few who take from every pool: a spare worker, which stands in for one that
// sleeps in the kernel, and everybody while a root has stepped aside, which may be the only one that attends its pool,
// while workers are switched off, or once a thread could not be had. In the last two cases a root that waits takes from
// all of them too, of what it may run.
//
// Nobody who places nothing pays for it: what is asked on the way of every unit is a pointer of the worker that is
// nullptr then.
//
// Rejected: to let everybody take every unit and bind the KLT to where that must run. The CPU that it moves to
// has another KLT at work or spinning, and the kernel needs milliseconds to tell them apart.
#pragma once

#include <atomic>

#include "core/pool/pool.h"
#include "core/pool/share.h"
#include "core/unit.h"

namespace weft::core {

struct PlacePools {
  Pool** pools = nullptr;
  unsigned count = 0;                      // 0: nothing is placed
  std::atomic<unsigned> roots_aside{0};    // that have left their CPU to others (step_aside)
  std::atomic<bool> open_for_good{false};  // some thread could not be had, once
};
extern PlacePools place_pools;

/// The pool of this place; there are pools.
inline Pool* place_pool(unsigned place) { return place_pools.pools[place % place_pools.count]; }

/// As Config::places says, when the runtime starts; anew in a forked child, where what waits in the old ones is a
/// picture of the past.
void make_place_pools();

/// A thread could not be had: who attends a pool may be missing, and nobody stands in. From now on others take from all
/// of them; so the worker that is woken for a unit can come to it. Before the look at what waits by which the refusal
/// ends (end_counted_search()).
inline void open_place_pools() { place_pools.open_for_good.store(true, std::memory_order_relaxed); }

/// What a root attends (`turn` 0), and the KLTs of weft's as they are started.
Pool* pool_to_attend(unsigned turn);

/// A placed unit was pushed, which belongs to `scope`: wakes a worker that attends the pool.
void notify_place(const Pool& pool, const Share* scope);

/// Before a root sleeps over what waits in pools that it does not take from: who attends these may not have been
/// started, as it was off, and on again by the word of a handler, which starts nobody.
void start_those_who_attend();

/// The next unit of the pool that the worker attends; nullptr: none, or it attends none.
Unit* next_placed(Worker& worker);
/// From any pool, if the worker may. For a root that waits it may be a unit that it may not run.
Unit* next_placed_elsewhere(Worker& worker);

/// Whether the worker may, its wait aside.
bool takes_from_all(const Worker& worker);

/// Whether one of these two would find something (a hint).
bool any_placed(const Worker& worker);
/// Whether anything waits in any of them.
bool any_placed();
/// The same where everybody may take it who has no scope.
bool any_placed_for_all();
/// In any that the worker does not attend.
bool any_placed_elsewhere(const Worker& worker);

/// Just before the unit goes on on the worker's KLT.
void take_place_slowly(Worker& worker, Unit& unit);
inline void take_place(Worker& worker, Unit& unit) {
  if (has_flag(unit, UnitFlag::placed)) [[unlikely]]
    take_place_slowly(worker, unit);
}

}  // namespace weft::core
