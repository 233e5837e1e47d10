// Preempted (Fig. 2), in the handler on K1, which carries W with the unit U:
//   take K2 from W's own pool, or the global one; none: ask for one (the handler cannot make any, and must not wait for
//   it: whoever makes it may need a lock that U holds), and let U run on until the next tick;
//   note in U that it holds K1; wake K2 with W; sleep.
//   K2 jumps to W's scheduler, which puts U into its pool, as after a yield. From then on anybody may resume U.
// If the unit V that comes next in the worker's deque holds a KLT, K3, that is woken in place of K2, and saves a hand-
// over: K1 makes V current, as the scheduler would; K3 puts U behind the others, and goes back to V. The
// scheduler's frame, under U before, is then under V. What the scheduler sees to between two units must not be due:
// the end of a wait, other workers that sleep, other pools (next_that_holds_klt), and now and then it has its turn.
// Resumed (Fig. 3), in the scheduler of W' on K3, which takes U out of a pool:
//   K3 leaves the scheduler's stack for its own loop; there it goes into the pool of W', wakes K1 with W', and sleeps.
//   K1 returns from the handler. The KLT is handed over by one wake-up, and nobody polls.
//
// Why exactly one KLT runs a worker: carrier.cpp. Why U is not run too early: only K2 (or K3) shows it to others, when
// K1 has nothing more to do but sleep. If K1 is called before it sleeps, it does not fall asleep.
//
// Units of this kind run only on Klts: on the KLT that it was born with, a worker is lent first (lend.h). A unit that
// comes back must not need what the process may have no more of: another unit may wait for it, with that very thing.
// (A Klt may lie in the pool of a worker that sleeps, identities belong to whoever waits for the unit; and the kernel
// refuses further threads.) So at home, too, its own Klt carries the worker: the scheduler on the fresh stack is begun
// by the KLT that lends, and comes at once to where it would say whom to wake. That scheduler needs an identity for
// when the unit leaves again. A root's worker on which a unit was left has one: it keeps the last one from the first
// Klt on (keep_identity_slowly). Where there is none all the same, the unit's own becomes the worker's, and the unit
// runs on it as one that has just begun. An identity that is bound to the unit cannot become anybody's; then it goes
// back to the worker on which it was left, which has one, for as long as the unit lives.
//
// Identities: U keeps the one it runs on, W takes another, which has to be at hand (preempt.cpp).
//
// Timers belong to KLTs, and those of Klts tick once each time. A KLT that sleeps in the handler has the signal
// blocked, so that a tick that comes late waits for it, and must not count when U goes on: a slice is half an interval
// at least (Slice::began). K2 carries the worker for a few microseconds where the next unit has its own KLT; so
// its timer is not started until it is known that it has not (keep_time).
#include "core/klt_switch.h"

#include "arch/context.h"
#include "arch/outermost.h"
#include "core/carrier.h"
#include "core/fork.h"
#include "core/identities.h"
#include "core/klt_pools.h"
#include "core/lend.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/ready.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/technique/pass.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/identity.h"
#include "os/interrupt.h"
#include "os/signal_mask.h"

namespace weft::core {
namespace {

bool enabled() { return preemption_works() && identities_enabled; }

// The worker's unit from now on; the KLT that it holds, and lets go.
Klt& make_current(Worker& worker, Unit& unit) {
  auto klt = static_cast<Klt*>(unit.context);
  unit.flags.fetch_and(static_cast<std::uint16_t>(~unsigned{UnitFlag::holds_klt}), std::memory_order_relaxed);
  note_running(worker, unit);
  os::Identity* identity = details(unit).identity != nullptr ? details(unit).identity : worker.identities.own;
  worker.identities.installed = identity;
  worker.mask.changed = identity->has_mask;
  *arch::thread_word_of(identity->thread_pointer) = &worker;
  return *klt;
}

// The unit's own KLT carries the worker from here until the unit leaves.
Event continue_on_own_klt(Worker& worker, Unit& unit) {
  Klt& klt = make_current(worker, unit);
  void* here = worker.klts.lent_here != nullptr ? worker.klts.lent_here->context
                                                : worker.carrier.load(std::memory_order_relaxed)->context;
  return static_cast<Event>(
      weft_context_switch(&worker.scheduler_context, here, reinterpret_cast<std::intptr_t>(&klt)));
}

// For a scheduler that a Klt will carry. False: none can be had.
bool has_own_identity(Worker& worker) { return worker.identities.own != nullptr || ensure_own_identity(worker); }

// The same where the unit comes back, which holds a KLT.
bool has_own_identity_for(Worker& worker, Unit& unit) {
  if (has_own_identity(worker)) return true;
  UnitDetails& of_unit = details(unit);
  if (of_unit.keeps_identity) return false;
  worker.identities.own = of_unit.identity;
  of_unit.identity = nullptr;
  return true;
}

// To the worker on which it was left, where it has no pool.
void send_back(Worker& worker, Unit& unit) {
  if (unit.pool.load(std::memory_order_acquire) != nullptr)
    put_ready(worker, unit);
  else
    resume_chain(worker_of(unit), &unit, &unit);
  os::give_up_cpu();
}

}  // namespace

Event run_on_klt(Worker& worker, Unit& unit, bool& lent) {
  const bool at_home = worker.carrier.load(std::memory_order_relaxed) == nullptr && worker.klts.lent_here == nullptr;
  if (has_flag(unit, UnitFlag::holds_klt)) {
    if (!at_home) return continue_on_own_klt(worker, unit);
    lent = has_own_identity_for(worker, unit);
    if (lent)
      lend(worker, unit, nullptr, *worker.stacks.take(scheduler_stack_bytes));  // or the process ends
    else
      send_back(worker, unit);
    return Event::returned;
  }
  if (at_home && enabled() && has_own_identity(worker)) {
    if (Stack* const stack = worker.stacks.take_if_there_is(scheduler_stack_bytes); stack != nullptr) {
      if (Klt* const klt = get_klt(worker); klt != nullptr) {
        lent = true;
        lend(worker, unit, klt, *stack);
        return Event::returned;
      }
      worker.stacks.give(stack);
    }
  }
  // At home, for want of KLTs or memory: then it is never switched off this one.
  keep_time(worker);
  install_for(worker, unit);
  take_place(worker, unit);
  return unit.departed ? continue_unit(worker, unit) : start_unit(worker, unit);
}

namespace {

// The worker has a spare identity, if the unit has none of its own yet.
void leave_with_klt(Worker& worker, Unit& unit, Klt& self, const os::WordAwaited& awaited) {
  note_deviation(worker, unit);
  UnitDetails& of_unit = details(unit);
  if (of_unit.identity == nullptr) {
    of_unit.identity = worker.identities.own;
    worker.identities.own = take_identity(worker);  // the spare one: no lock, nothing is made
  }
  unit.flags.fetch_or(UnitFlag::holds_klt, std::memory_order_relaxed);
  unit.context = &self;
  self.awaited = awaited;
  self.word.store(Klt::asleep, std::memory_order_relaxed);
}

bool has_spare_identity(Worker& worker, const Unit& unit) {
  if (details(unit).identity != nullptr || worker.identities.spares != nullptr) return true;
  const HeldOff held;
  os::Identity* identity = take_identity(worker);
  if (identity != nullptr) give_identity(worker, identity);
  return worker.identities.spares != nullptr;
}

// The unit, on a KLT that is made for it, calls the function without a worker. It is as if it had suspended, and it
// resumes itself: the worker's scheduler sees which of the two comes first, as for any unit (unit.h). Without a KLT for
// the worker, it stays.
void call_without_worker(Worker& worker, Unit& unit, void (*function)(void*), void* argument) {
  Klt& self = *worker.carrier.load(std::memory_order_relaxed);
  Klt* const found = get_klt(worker);
  if (found == nullptr) return arch::call_as_outermost(function, argument);
  Klt& other = *found;
  const os::SignalMask before = os::block_interrupt_only();
  self.ticker.stop();
  prepare_suspend(unit);
  leave_with_klt(worker, unit, self, {});
  void** word = arch::thread_word_of(details(unit).identity->thread_pointer);
  *word = nullptr;
  other.event = Event::suspended;
  const unsigned epoch = runtime.epoch.load(std::memory_order_relaxed);
  hand_over(worker, other);
  arch::call_as_outermost(function, argument);
  if (runtime.epoch.load(std::memory_order_relaxed) != epoch) return go_on_as_root(unit);  // it has forked
  unit.next = nullptr;
  resume_all(&unit);
  sleep_until_resumed(self);
  tick_again(*self.worker);
  os::set_signals(before);
}

}  // namespace

void call_blocking(void (*function)(void*), void* argument) {
  Unit& unit = this_unit();
  const bool can_leave = enabled() && !is_root(unit) && may_wait(unit) && has_flag(unit, UnitFlag::free_standing) &&
                         details(unit).held_off == 0;
  if (!can_leave) return arch::call_as_outermost(function, argument);
  constexpr unsigned wanted = UnitFlag::wants_klt | UnitFlag::wants_identity;
  if ((unit.flags.load(std::memory_order_relaxed) & UnitFlag::wants_klt) == 0)
    unit.flags.fetch_or(static_cast<std::uint16_t>(wanted), std::memory_order_relaxed);
  Worker* worker = this_worker();
  if (worker->carrier.load(std::memory_order_relaxed) == nullptr) {
    leave_unit_to_scheduler(*worker, unit, Event::yielded);  // and comes back on a KLT that it can keep
    worker = this_worker();
  }
  if (worker->carrier.load(std::memory_order_relaxed) == nullptr || !has_spare_identity(*worker, unit))
    arch::call_as_outermost(function, argument);
  else
    call_without_worker(*worker, unit, function, argument);
}

bool would_sleep_on(const Unit& unit) { return static_cast<const Klt*>(unit.context)->awaited.is_unchanged(); }

bool switch_klt(Worker& worker, Unit& unit, const os::WordAwaited& awaited) {
  Klt* self = worker.carrier.load(std::memory_order_relaxed);
  if (self == nullptr) return false;  // no identity could be had when it should have been lent
  // With the global pool alone as in the paper, for comparison.
  const bool may_skip = preemption_settings.pools == KltPools::local;
  Unit* const next = may_skip ? next_that_holds_klt(worker, unit) : nullptr;
  Klt* other = next == nullptr ? take_from_pools(worker) : nullptr;
  if (next == nullptr && other == nullptr) {
    want_klt();
    return false;
  }
  self->ticker.stop();
  leave_with_klt(worker, unit, *self, awaited);
  if (next != nullptr) {
    other = &make_current(worker, *next);
    other->left = &unit;
  } else {
    other->event = Event::yielded;
  }
  hand_over(worker, *other);
  sleep_until_resumed(*self);
  self->worker->slice.began = os::now_ns();
  if (awaited.word != nullptr)
    tick_early(*self->worker);
  else
    tick_again(*self->worker);
  return true;
}

void keep_time(Worker& worker) {
  if (!worker.slice.untimed) return;
  worker.slice.untimed = false;
  tick_again(worker);
}

}  // namespace weft::core
