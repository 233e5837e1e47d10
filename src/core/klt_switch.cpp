// Who carries a worker, and how it is handed on.
//
// A worker is a scheduling slot with a scheduler on some stack; what executes it is whichever KLT carries it. Stacks
// and thread pointers do not belong to KLTs here (os/identity.h), so a KLT that takes over jumps to the worker's
// scheduler as any unit would that yields.
//
// Units of this kind run only on KLTs that are made for it (Klt): one has a small stack of its own for the loop in
// which it sleeps, and nothing else. A worker that comes to such a unit on the KLT that it was born with, a root's or
// one of weft's, is lent: a Klt carries it, with a scheduler on a fresh stack, and the KLT that it was born with sleeps
// until that scheduler comes to its end. So a root's own frames are continued by nobody else, and a preempted unit
// never sits on a root's KLT when the root wants to go on.
//
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
// Why exactly one KLT runs a worker: the one that carries it gives it away as its last act, by storing `called` into
// the other's word (release; the sleeper's load is an acquire), and touches neither worker nor unit afterwards: it is
// on its own stack, or in the handler on U's stack, where nothing is in use but its own word. That word it has set to
// `asleep` before: so a call that comes before it sleeps is not lost. Why U is not run too early: only K2 (or
// K3) shows it to others, when K1 has nothing more to do but sleep. If K1 is called before it sleeps, it does not fall
// asleep. A Klt goes into a pool before it gives the worker away, while nobody else takes from that worker's pool;
// whoever takes it from the global pool calls it the same way.
//
// A unit that comes back must not need what the process may have no more of: another unit may wait for it, with that
// very thing. (A Klt may lie in the pool of a worker that sleeps, identities belong to whoever waits for the unit; and
// the kernel refuses further threads.) So at home, too, its own Klt carries the worker: the scheduler on the fresh
// stack is begun by the KLT that lends, and comes at once to where it would say whom to wake. That scheduler needs an
// identity for when the unit leaves again. A root's worker on which a unit was left has one: it keeps the last one
// from the first Klt on (keep_identity_slowly). Where there is none all the same, the unit's own becomes the
// worker's, and the unit runs on it as one that has just begun. An identity that is bound to the unit cannot become
// anybody's; then it goes back to the worker on which it was left, which has one, for as long as the unit lives.
//
// Identities: U keeps the one it runs on, W takes another, which has to be at hand (preempt.cpp). A Klt that sleeps has
// the thread pointer it began with, but that may be in use elsewhere: it touches nothing thread-local, and blocks all
// signals.
//
// Timers belong to KLTs, and those of Klts tick once each time. A KLT that sleeps in the handler has the signal
// blocked, so that a tick that comes late waits for it, and must not count when U goes on: a slice is half an interval
// at least (Slice::began). K2 carries the worker for a few microseconds where the next unit has its own KLT; so
// its timer is not started until it is known that it has not (keep_time).
//
// Rejected: to let a root's KLT itself be kept by a unit. The root could not go on before that unit has ended.
#include "core/klt_switch.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/create.h"
#include "core/fork.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/segment.h"
#include "core/signal_masks.h"
#include "core/spinlock.h"
#include "core/technique/pass.h"
#include "core/watchdog.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/cpus.h"
#include "os/fault.h"
#include "os/futex.h"
#include "os/identity.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::core {

/// A worker that a KLT has lent; in that KLT's frame. An even address.
struct Lent {
  Worker* worker;
  Unit* first;
  bool loops;
  const Unit* until_done;
  weft_fp_control modes;  // with which units begin in the frame that lends
  Stack* stack;
  std::atomic<std::uint32_t> is_back{0};
  void* context = nullptr;  // of the KLT itself, while its scheduler begins there
};

namespace {

constexpr unsigned most_local = 8;

Spinlock global_lock;  // taken in handlers by try_lock() alone
Klt* global_pool = nullptr;
std::atomic<unsigned> free_klts{0};
std::atomic<unsigned> klts_made{0};
std::atomic<unsigned> klts_wanted{0};
std::atomic<bool> told{false};

bool enabled() { return preemption_works() && identities_enabled; }

// ---------------------------------------------------------------- sleeping

// Those that sleep so already when the program takes the signal are woken by it all the same, once; and from then on by
// futex as the others. Who calls sees that the other is suspended, or that one, which says so first, that it is called:
// both orders are sequentially consistent.
bool sleeps_by_signal() { return preemption_settings.sleep == KltSleep::sigsuspend; }

void call(Klt& klt) {
  klt.word.store(Klt::called, sleeps_by_signal() ? std::memory_order_seq_cst : std::memory_order_release);
  // From now on it is not ours.
  os::futex_wake(klt.word, 1);
  if (sleeps_by_signal() && klt.suspended.load(std::memory_order_seq_cst)) os::wake_from_suspension(klt.id);
}

void suspend_until_called(Klt& self) {
  self.ticker.stop();  // its ticks would wake it
  self.suspended.store(true, std::memory_order_seq_cst);
  if (self.word.load(std::memory_order_seq_cst) != Klt::called) os::suspend_for_interrupt();
  self.suspended.store(false, std::memory_order_relaxed);
}

void sleep_until_called(Klt& self) {
  while (self.word.load(std::memory_order_acquire) != Klt::called) {
    if (sleeps_by_signal() && os::interrupt_signal() != 0) {
      suspend_until_called(self);
    } else {
      os::futex_wait(self.word, Klt::asleep);
    }
  }
  self.word.store(Klt::asleep, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- pools

void put_into_global(Klt& klt) {
  SpinGuard guard(global_lock);
  klt.next = global_pool;
  global_pool = &klt;
}

// By the KLT itself, which carries the worker still.
void put_into_pool(Worker& worker, Klt& klt) {
  free_klts.fetch_add(1, std::memory_order_relaxed);
  if (preemption_settings.pools == KltPools::local && worker.klts.idle_count < most_local) {
    klt.next = worker.klts.idle;
    worker.klts.idle = &klt;
    ++worker.klts.idle_count;
  } else {
    put_into_global(klt);
  }
}

Klt* take_first(Klt*& list) {
  Klt* klt = list;
  if (klt == nullptr) return nullptr;
  list = klt->next;
  free_klts.fetch_sub(1, std::memory_order_relaxed);
  return klt;
}

// Not in a handler.
Klt* take_from_global() {
  SpinGuard guard(global_lock);
  return take_first(global_pool);
}

Klt* take_from_pools(Worker& worker) {
  if (Klt* klt = take_first(worker.klts.idle); klt != nullptr) {
    --worker.klts.idle_count;
    return klt;
  }
  if (!global_lock.try_lock()) return nullptr;
  Klt* klt = take_first(global_pool);
  global_lock.unlock();
  return klt;
}

// ---------------------------------------------------------------- carrying

// By whoever carries the worker, and is about to sleep. The kernel would wake the other one where that last ran, behind
// what runs there now, and this CPU would have nothing to do until the kernel looks for that: with two workers that
// cost a fifth of all time. So it wakes up here. (Where it fell asleep does not say where the kernel has it: one that
// is about to sleep may be interrupted by the one that it has woken, and then be moved.)
void hand_over(Worker& worker, Klt& klt) {
  klt.worker = &worker;
  if (worker.cpu.load(std::memory_order_relaxed) < 0)
    if (const int cpu = os::this_cpu(); os::move_sleeping_klt(klt.id, cpu, klt.cpus)) klt.moved_to = cpu;
  call(klt);
}

// Whether it may run where weft has bound it to, and nowhere else. If not, somebody has said so since (taskset -a):
// then that holds.
bool is_still_bound(const Klt& klt, int cpu) {
  const os::CpuSet cpus = os::cpus_of_klt(klt.id);
  return cpus.count() == 1 && (cpu == Klt::not_known || cpus.has(cpu));
}

// Noted first: who binds the worker meanwhile takes this KLT for its carrier, perhaps, and says then that nothing is
// known (bind_worker).
void bind_as_worker(Klt& self, int cpu) {
  const int before = self.cpu;
  if (cpu == before) return;
  self.cpu = cpu;
  if (cpu < 0 && !is_still_bound(self, before)) return;
  if (!os::bind_klt(self.id, cpu)) self.cpu = Klt::not_known;
}

// Who carries the worker has said so, and is bound to `bound_to`. bind_worker() may say another CPU at any time; it
// looks afterwards who carries the worker, as here it is looked once more what it has said.
template <class Bind>
void bind_until_it_holds(const Worker& worker, int bound_to, Bind bind) {
  os::light_fence();
  for (int cpu = 0; (cpu = worker.cpu.load(std::memory_order_relaxed)) != bound_to; bound_to = cpu) bind(cpu);
}

// From now on this KLT carries the worker.
void take_over(Klt& self) {
  Worker& worker = *self.worker;
  if (self.moved_to >= 0 && is_still_bound(self, self.moved_to)) os::bind_klt(self.id, self.cpus);
  self.moved_to = -1;
  worker.carrier.store(&self, std::memory_order_release);
  worker.klt.store(self.id, std::memory_order_release);
  bind_until_it_holds(worker, Klt::not_known, [&self](int cpu) { bind_as_worker(self, cpu); });
  self.ticker.stop();  // the watchdog may have started it while this KLT slept: its tick may have come and gone
  if (Unit* left = self.left; left != nullptr) {
    self.left = nullptr;
    put_back_preempted(worker, *left);
  }
}

// The worker's scheduler, which has come to its end on some KLT, goes back to where it was lent.
constexpr std::uintptr_t goes_back = 1;

std::intptr_t order_of(Lent& lent) {
  return static_cast<std::intptr_t>(reinterpret_cast<std::uintptr_t>(&lent) | goes_back);
}

// On the fresh stack.
void schedule_lent(void* argument) {
  Lent& lent = *static_cast<Lent*>(argument);
  Worker& worker = *lent.worker;
  run_lent(worker, *lent.first, lent.modes, lent.loops, lent.until_done);
  install_own(worker);
  take_pending_signals_along(worker);
  Klt& here = *worker.carrier.load(std::memory_order_relaxed);
  weft_context_jump(here.context, order_of(lent));
}

// On the KLT's own stack, the worker in hand: whom to give it to, when that is known.
std::intptr_t carry(Klt& self) {
  Worker& worker = *self.worker;
  if (Lent* lent = self.begins; lent != nullptr) {
    self.begins = nullptr;
    return weft_context_start_full(&self.context, lent->stack->top(), &schedule_lent, lent, arch::fp_control());
  }
  return weft_context_switch(&self.context, worker.scheduler_context, static_cast<std::intptr_t>(self.event));
}

void give_away(Worker& worker, std::intptr_t order) {
  const auto value = static_cast<std::uintptr_t>(order);
  if ((value & goes_back) == 0) {
    hand_over(worker, *reinterpret_cast<Klt*>(value));
    return;
  }
  auto lent = reinterpret_cast<Lent*>(value & ~goes_back);
  lent->is_back.store(1, std::memory_order_release);
  os::futex_wake(lent->is_back, 1);
}

void loop(Klt& self, const os::SignalMask& carrying) {
  for (;;) {
    sleep_until_called(self);
    os::Identity* identity = self.worker->identities.installed = self.worker->identities.own;
    self.worker->mask.changed = false;
    *arch::thread_word_of(identity->thread_pointer) = self.worker;
    arch::set_thread_pointer(identity->thread_pointer);
    take_over(self);
    self.worker->slice.untimed = true;
    os::set_signals(carrying);
    if (signal_masks_in_use) change_signal_mask(*self.worker, *identity);
    const std::intptr_t order = carry(self);
    // Back on its own stack. It has carried other workers meanwhile, perhaps.
    Worker& worker = *self.worker;
    os::block_all_signals();
    arch::set_thread_pointer(self.thread_pointer);
    self.ticker.stop();
    put_into_pool(worker, self);
    give_away(worker, order);
  }
}

void* begin(void* argument) {
  auto self = static_cast<Klt*>(argument);
  self->thread_pointer = os::begin_lending();
  os::provide_signal_stack();
  self->id = os::this_klt();
  self->ticker.belong_to(self->id);
  offer_identity_of_this_klt();  // nothing thread-local from here on
  const os::SignalMask carrying = os::signals_blocked_on_klts();
  self->word.store(Klt::asleep, std::memory_order_relaxed);
  free_klts.fetch_add(1, std::memory_order_relaxed);
  put_into_global(*self);
  self->begun.store(true, std::memory_order_release);
  loop(*self, carrying);
  return nullptr;
}

// Counts one that is about to be made. False: there are as many as there may be.
bool count_klt() {
  unsigned made = klts_made.load(std::memory_order_relaxed);
  do {
    if (made >= preemption_settings.most_klts) return false;
  } while (!klts_made.compare_exchange_weak(made, made + 1, std::memory_order_relaxed));
  return true;
}

// Not in a handler. `cpu`: that weft has bound the caller to, and so whom it starts. nullptr: none can be had.
Klt* make_klt(int cpu) {
  if (!count_klt()) return nullptr;
  void* memory = std::malloc(sizeof(Klt));
  Klt* klt = nullptr;
  const auto start = [memory, cpu, &klt] {
    klt = new (memory) Klt;
    klt->cpu = cpu;
    return os::start_klt(begin, klt, scheduler_stack_bytes, os::Signals::none);
  };
  if (memory != nullptr && with_room(start) == 0) return klt;
  klts_made.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
  if (memory != nullptr && !told.exchange(true, std::memory_order_relaxed))
    base::warn(
        "no further thread can be had (ulimit -u, pids.max, vm.max_map_count): units are preempted less often than "
        "they should be");
  return nullptr;
}

// ---------------------------------------------------------------- lending

// One that waits to be used; not in a handler. nullptr: there is none, and none can be had.
Klt* get_klt(Worker& worker) {
  const HeldOff held;
  for (;;) {
    if (Klt* klt = take_from_pools(worker); klt != nullptr) return klt;
    if (Klt* klt = take_from_global(); klt != nullptr) return klt;  // another had it locked
    const Klt* const made = make_klt(worker.cpu.load(std::memory_order_relaxed));
    if (made == nullptr) return take_from_global();
    // It comes into the global pool by itself, where another may be faster; and what is there meanwhile will do. (Bug:
    // it was not waited for where others had some in their own pools, and one more was made, and one more.)
    constexpr std::uint64_t a_while_ns = 200ULL * 1000;
    while (!made->begun.load(std::memory_order_acquire)) {
      os::nap(a_while_ns);
      if (Klt* klt = take_from_pools(worker); klt != nullptr) return klt;
    }
  }
}

// The first unit holds a KLT: who that is.
Klt* begin_here(Lent& lent) {
  lent.worker->klts.lent_here = &lent;
  const std::intptr_t order =
      weft_context_start_full(&lent.context, lent.stack->top(), &schedule_lent, &lent, arch::fp_control());
  lent.worker->klts.lent_here = nullptr;
  return reinterpret_cast<Klt*>(order);
}

// The KLT that the worker was born with lends it to a free one, or to that of the unit (nullptr), and sleeps until it
// is back. `stack`: for the scheduler there.
void lend(Worker& worker, Unit& unit, Klt* klt, Stack& stack) {
  Lent lent{&worker, &unit, !worker.claims.frame_returns, worker.until_done, worker.fp_control, &stack};
  install_home(worker);  // a root's own: a signal may come for it meanwhile
  take_pending_signals_along(worker);
  os::Identity* home = worker.identities.home;
  worker.identities.home = nullptr;
  worker.slice.ticker.stop();
  const os::SignalMask before = home != nullptr ? os::block_interrupt_only() : os::block_all_signals();
  const int bound_to = worker.cpu.load(std::memory_order_relaxed);
  if (klt != nullptr)
    klt->begins = &lent;
  else
    klt = begin_here(lent);
  hand_over(worker, *klt);
  while (lent.is_back.load(std::memory_order_acquire) == 0) os::futex_wait(lent.is_back, 0);
  worker.klt.store(os::this_klt(), std::memory_order_release);
  worker.carrier.store(nullptr, std::memory_order_release);
  bind_until_it_holds(worker, bound_to, [](int cpu) { os::bind_klt(os::this_klt(), cpu); });
  worker.identities.home = home;
  worker.mask.changed = home != nullptr && home->has_mask;
  // On a KLT of weft's `before` may hold what an identity has blocked that was installed then.
  const os::SignalMask after = home != nullptr ? before : os::signals_blocked_on_klts();
  *arch::thread_word_of(worker.identities.installed->thread_pointer) = &worker;
  arch::set_thread_pointer(worker.identities.installed->thread_pointer);
  if (home != nullptr) worker.identities.installed = nullptr;  // it was on the other KLT: nothing of it is pending here
  install_home(worker);
  os::set_signals(after);
  if (home == nullptr) change_signal_mask(worker, *worker.identities.installed);
  if (!is_over(worker)) tick_again(worker);  // else a root goes on in its own code
  worker.stacks.give(lent.stack);
}

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
  if (found == nullptr) return function(argument);
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
  function(argument);
  if (runtime.epoch.load(std::memory_order_relaxed) != epoch) return go_on_as_root(unit);  // it has forked
  unit.next = nullptr;
  resume_all(&unit);
  sleep_until_called(self);
  take_over(self);
  tick_again(*self.worker);
  os::set_signals(before);
}

}  // namespace

void call_blocking(void (*function)(void*), void* argument) {
  Unit& unit = this_unit();
  const bool can_leave = enabled() && !is_root(unit) && may_wait(unit) && has_flag(unit, UnitFlag::free_standing) &&
                         details(unit).held_off == 0;
  if (!can_leave) {
    function(argument);
    return;
  }
  constexpr unsigned wanted = UnitFlag::wants_klt | UnitFlag::wants_identity;
  if ((unit.flags.load(std::memory_order_relaxed) & UnitFlag::wants_klt) == 0)
    unit.flags.fetch_or(static_cast<std::uint16_t>(wanted), std::memory_order_relaxed);
  Worker* worker = this_worker();
  if (worker->carrier.load(std::memory_order_relaxed) == nullptr) {
    leave_unit_to_scheduler(*worker, unit, Event::yielded);  // and comes back on a KLT that it can keep
    worker = this_worker();
  }
  if (worker->carrier.load(std::memory_order_relaxed) == nullptr || !has_spare_identity(*worker, unit))
    function(argument);
  else
    call_without_worker(*worker, unit, function, argument);
}

namespace {

struct Carrier {
  int klt;
  Klt* carrier;
};

// Of one moment: whoever takes over writes one of the two after the other.
Carrier carrier_of(const Worker& worker) {
  for (;;) {
    const int klt = worker.klt.load(std::memory_order_acquire);
    Klt* const carrier = worker.carrier.load(std::memory_order_acquire);
    const bool is_same = worker.klt.load(std::memory_order_relaxed) == klt;
    if (is_same && (carrier == nullptr || carrier->id == klt)) return {klt, carrier};
    os::give_up_cpu();
  }
}

}  // namespace

// Whoever takes over says so, and looks at `cpu` then; here it is the other way round. So who carries the worker next
// is bound by itself, or here. Who has carried it just before may be bound here for nothing, and finds out when it
// takes over next; while a KLT that has lent its worker sleeps, it is bound when it is back. (Bug: whoever carried it
// was bound, and kept that for other workers; and the KLT that had lent the worker came back unbound.)
bool bind_worker(Worker& worker, int cpu) {
  for (int before = 0;;) {
    const auto [klt, carrier] = carrier_of(worker);
    const bool is_bound = klt != 0 && os::bind_klt(klt, cpu);
    if (carrier != nullptr) carrier->cpu = Klt::not_known;
    if (before == 0 && !is_bound) return false;
    if (before == klt) return true;  // bound once more since `cpu` could be seen
    before = klt;
    worker.cpu.store(cpu, std::memory_order_relaxed);
    os::heavy_fence();
  }
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
    klts_wanted.fetch_add(1, std::memory_order_relaxed);
    hurry_watchdog();
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
  sleep_until_called(*self);
  take_over(*self);
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

os::Ticker& ticker_of(Worker& worker) {
  Klt* klt = worker.carrier.load(std::memory_order_acquire);
  return klt != nullptr ? klt->ticker : worker.slice.ticker;
}

void make_wanted_klts() {
  constexpr unsigned at_once = 64;
  unsigned wanted = klts_wanted.exchange(0, std::memory_order_relaxed);
  if (wanted > at_once) wanted = at_once;
  for (; wanted != 0; --wanted)
    if (make_klt(-1) == nullptr) return;
}

KltCount count_klts() { return {klts_made.load(std::memory_order_relaxed), free_klts.load(std::memory_order_relaxed)}; }

void leave_klts_to_others(Worker& worker) {
  while (Klt* klt = worker.klts.idle) {
    worker.klts.idle = klt->next;
    put_into_global(*klt);
  }
  worker.klts.idle_count = 0;
}

void reset_klts() {
  global_lock.unlock();
  global_pool = nullptr;
  free_klts.store(0, std::memory_order_relaxed);
  klts_made.store(0, std::memory_order_relaxed);
  klts_wanted.store(0, std::memory_order_relaxed);
  told.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
