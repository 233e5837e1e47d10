#include "core/technique/pass.h"

#include "core/find.h"
#include "core/idle.h"
#include "core/klt_switch.h"
#include "core/own_scheduler.h"
#include "core/pool/pool.h"
#include "core/scheduler.h"

namespace weft::core {

// (Bug: what a spare had left behind was never looked for, as long as units of SS, SS-L or SC followed each other.)
Unit* next_in_batch(Worker& worker, Technique technique) {
  if (worker.claims.frame_returns || worker.turns.of_what_was_left || is_over(worker) || has_custom_function(worker))
    return nullptr;
  Unit* unit = next_ready(worker);
  if (unit == nullptr) return nullptr;
  if (!unit->departed) settle_technique(worker, *unit);
  const bool same = unit->technique == technique && !unit->departed && !is_root(*unit) && runs_on_any_identity(*unit) &&
                    !has_flag(*unit, UnitFlag::cancelled);
  if (same) return unit;
  worker.handed_on = unit;
  return nullptr;
}

namespace {

[[gnu::always_inline]] inline bool may_pass(const Worker& worker, const Unit& leaving) {
  return frame_can_wait(worker) && runs_on_any_identity(leaving);
}

// Its technique is settled then.
inline bool may_begin_by_switch(Worker& worker, Unit& unit) {
  if (!may_begin_directly(unit)) return false;
  settle_technique(worker, unit);
  return starts_by_switch(unit.technique);
}

[[gnu::always_inline]] inline bool can_be_passed_to(Worker& worker, Unit& unit) {
  return unit.departed ? runs_on_any_identity(unit) : may_begin_by_switch(worker, unit);
}

}  // namespace

bool may_pass_to(Worker& worker, const Unit& leaving, Unit& next) {
  return may_pass(worker, leaving) && can_be_passed_to(worker, next);
}

namespace {

// What next_to_switch_to() is seldom about, or what takes longer anyway. Functions of their own, so that it saves no
// registers.

// It is what `ring` would give next.
template <Order order>
[[gnu::noinline]] Unit* next_of_list_when_chosen(Worker& worker, Ring<order>& ring, Unit& next) {
  settle_technique(worker, next);
  if (!starts_by_switch(next.technique)) return nullptr;
  ring.drop();
  return &next;
}

template <Order order>
[[gnu::noinline]] Unit* next_of_list_that_has_not_departed(Worker& worker, Ring<order>& ring, Unit& next) {
  if (!may_begin_directly(next)) return nullptr;
  const Technique technique = next.technique;
  if (technique == Technique::automatic) return next_of_list_when_chosen(worker, ring, next);
  if (!starts_by_switch(technique)) return nullptr;
  ring.drop();
  return &next;
}

// From a list that is this worker's alone.
template <Order order>
inline Unit* take_if_it_suits(Worker& worker, Ring<order>& ring) {
  Unit* unit = nullptr;
  if (!ring.peek(unit)) return nullptr;
  if (!unit->departed) return next_of_list_that_has_not_departed(worker, ring, *unit);
  if (!runs_on_any_identity(*unit)) return nullptr;
  ring.drop();
  return unit;
}

[[gnu::noinline]] Unit* next_of_own_scheduler(Worker& worker, const Scheduler& own) {
  if (Ring<Order::fifo>* ring = own.private_fifo(); ring != nullptr) return take_if_it_suits(worker, *ring);
  const Pool* list = own.private_list();
  return list != nullptr ? take_if_it_suits(worker, list->ring<Order::lifo>()) : nullptr;
}

// Whether what leaves holds a lock, under which no function of the program's may be called. (A unit that ends does not
// say so: then it is what another has said before, and at worst the scheduler goes on.)
bool may_hold_lock(const Worker& worker) {
  return Pool::customs_are_known() && worker.unsettled.event == static_cast<std::intptr_t>(Event::parked);
}

// (Bug: what lies where nobody comes to it was looked for at one of 64 such turns only, each of which takes 5 ms.)
[[gnu::noinline]] Unit* next_where_others_come(Worker& worker) {
  Unit* unit = may_hold_lock(worker) ? next_of_deque(worker) : next_local(worker);
  if (unit == nullptr) return nullptr;
  if (!worker.turns.of_what_was_left && can_be_passed_to(worker, *unit)) return unit;
  worker.handed_on = unit;
  return nullptr;
}

// It is the newest in the deque, and the worker is inside its privacy.
[[gnu::noinline]] Unit* next_that_has_not_departed(Worker& worker, Unit& newest) {
  const bool suits = can_be_passed_to(worker, newest);
  if (suits) worker.deque.drop_alone();
  worker.privacy.leave();
  return suits ? &newest : nullptr;
}

}  // namespace

// Where nobody else can take it, the next unit is looked at first and left where it is if it does not suit.
Unit* next_to_switch_to(Worker& worker, const Unit& leaving) {
  if (!may_pass(worker, leaving)) return nullptr;
  // Now and then the scheduler looks for what others offer.
  if (count_direct_switch(worker)) return nullptr;
  if (const Scheduler* own = worker.scheduler(); own != nullptr) return next_of_own_scheduler(worker, *own);
  if (!worker.privacy.enter()) [[unlikely]]
    return next_where_others_come(worker);
  Unit* unit = worker.deque.peek();
  if (unit != nullptr) {
    if (!unit->departed) return next_that_has_not_departed(worker, *unit);
    if (runs_on_any_identity(*unit)) [[likely]]
      worker.deque.drop_alone();
    else
      unit = nullptr;
  }
  worker.privacy.leave();
  return unit;
}

Unit* next_that_holds_klt(Worker& worker, const Unit& leaving) {
  const bool has_own_place = leaving.pool.load(std::memory_order_relaxed) != nullptr || scope_of(leaving) != nullptr;
  const bool takes_from_all = worker.scheduler() == nullptr && runs_as_they_come(worker);
  const bool somebody_sleeps = runtime.sleepers.load(std::memory_order_relaxed) > 0;
  if (has_own_place || !takes_from_all || somebody_sleeps || !frame_can_do_without(worker, leaving)) return nullptr;
  if (count_direct_switch(worker)) return nullptr;
  Unit* next = take_newest(worker);
  if (next == nullptr) return nullptr;
  if (!has_flag(*next, UnitFlag::holds_klt) || would_sleep_on(*next)) {
    if (!worker.deque.push_if_room(next)) worker.inbox.put(next);  // there is: it has just been taken out
    notify(nullptr, true);  // while it was in hand, a worker that went to sleep could not see it
    return nullptr;
  }
  worker.turns.preempted_before = worker.counters.preempted;
  ++worker.turns.yielded;
  return next;
}

namespace {

// Takes the unit out of where the worker alone takes from. False: it is not there, or others may be at it.
bool take_out(Worker& worker, const Unit& unit) {
  if (Pool* pool = unit.pool.load(std::memory_order_acquire); pool != nullptr) {
    const Scheduler* own = worker.scheduler();
    if (own == nullptr || own->private_list() != pool) return false;
    pool->take_in_returned();
    return pool->remove(&unit);
  }
  if (!worker.privacy.enter()) return false;
  const bool taken = worker.deque.remove_alone(&unit);
  worker.privacy.leave();
  return taken;
}

}  // namespace

bool can_hand_on(const Worker& worker, const Unit& unit) {
  return !is_root(unit) && may_wait(unit) && worker.handed_on == nullptr && !has_custom_function(worker);
}

void hand_on(Worker& worker, Unit& unit, Unit& next) {
  worker.handed_on = &next;
  leave_unit(worker, unit, Event::yielded);
}

bool yield_to(Unit& next) {
  Worker& worker = worker_here();
  Unit& unit = *worker.current;
  if (!can_hand_on(worker, unit) || !take_out(worker, next)) return false;
  const bool turn_of_others = worker.scheduler() == nullptr && count_direct_yield(worker);
  if (!turn_of_others && may_pass_to(worker, unit, next))
    leave_unit_for(worker, unit, Event::yielded, next);
  else
    hand_on(worker, unit, next);
  return true;
}

}  // namespace weft::core
