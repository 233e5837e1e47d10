// Passing a worker on: from a unit that leaves to another, which then goes on, or begins, without the scheduler between
// them; and to the one that has been named. Whether that may be is asked twice per unit that waits once, so nothing
// that is inline here calls anything where the answer is yes.
#pragma once

#include "core/create.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/technique/start.h"
#include "core/worker.h"

namespace weft::core {

/// Of 64 direct switches from unit to unit on a worker one is not made, so that its scheduler looks for what others
/// offer. Turns::direct_switches goes up by four, and is 0 when it is time: the switch that makes it 0 is not made,
/// and the scheduler, which then finds it so, looks around.
[[gnu::always_inline]] inline bool count_direct_switch(Worker& worker) {
  constexpr std::uint8_t one_of_64 = 256 / 64;
  worker.turns.direct_switches = static_cast<std::uint8_t>(worker.turns.direct_switches + one_of_64);
  return worker.turns.direct_switches == 0;
}

/// The same for a unit that yields; also if it was time when the last one ended, for then the scheduler does not look
/// around. (Bug: it was never time at a yield where units of Full and Full-L ended in between, each after a yield.)
[[gnu::always_inline]] inline bool count_direct_yield(Worker& worker) {
  return worker.turns.direct_switches == 0 || count_direct_switch(worker);
}

/// Whether the frame under the unit that runs can do without the worker for now.
[[gnu::always_inline]] inline bool frame_can_wait(const Worker& worker) {
  return worker.handed_on == nullptr && worker.claims.none() && !is_over(worker);
}

/// The same where the unit ends, or is kept from going on: not if it is what the frame waits for.
[[gnu::always_inline]] inline bool frame_can_do_without(const Worker& worker, const Unit& unit) {
  return frame_can_wait(worker) && worker.until_done != &unit;
}

/// Whether a unit that has not departed may be passed to, but for its technique.
inline bool may_begin_directly(const Unit& unit) {
  constexpr unsigned others = UnitFlag::wants_identity | UnitFlag::cancelled;
  return (unit.flags.load(std::memory_order_relaxed) & (others | UnitFlag::free_standing)) == UnitFlag::free_standing;
}

/// Its start is a switch to the top of its stack.
inline bool starts_by_switch(Technique technique) {
  return technique == Technique::full_l || technique == Technique::full;
}

/// For SS, SS-L and SC, which run one unit after the other as calls: the next unit to be started with the
/// same technique, if the loop may go on and that is what comes next; else nullptr, and what comes next
/// is left to the scheduler.
Unit* next_in_batch(Worker& worker, Technique technique);

/// For a unit that leaves the worker: another, which can be switched to and is to run next; nullptr: what comes next
/// is the scheduler's business.
Unit* next_to_switch_to(Worker& worker, const Unit& leaving);

/// Whether `leaving`, the unit that runs, may be left for `next` itself, a ready one (leave_unit_for). Settles its
/// technique.
bool may_pass_to(Worker& worker, const Unit& leaving, Unit& next);

/// From the handler (core/klt_switch.h): takes the unit that comes next on the worker, if it holds a KLT and the
/// scheduler has nothing to see to before. No lock, no memory. nullptr: the scheduler decides.
Unit* next_that_holds_klt(Worker& worker, const Unit& leaving);

/// The unit yields, and one that is in no pool is what its worker's scheduler runs next; where that can be.
bool can_hand_on(const Worker& worker, const Unit& unit);
void hand_on(Worker& worker, Unit& unit, Unit& next);

}  // namespace weft::core
