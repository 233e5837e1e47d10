// A signal interrupts a unit (os/interrupt.h), and the unit gives way.
//
// Signal-yield (3.1.1). The unit switches to its worker's scheduler from within the handler, as if it had called
// yield(); when it is resumed, on whichever KLT, it returns from the handler. What makes that right:
//   - The unit is left only in code that is neither weft's nor the C and C++ runtime's (Interruption::in_runtime), nor
//     in a handler of the program's. So no lock of theirs is held, and weft's own state is whole: `current` runs, on
//     its own stack.
//   - Code that weft calls in the midst of something is under HeldOff: the functions of custom pools, and libc's that
//     weft itself uses (core/held_calls.cpp; a program may have put an allocator of its own in their place).
//   - The handler itself switches to the scheduler alone: it takes no unit out of a pool, puts none into one, allocates
//     nothing and takes no lock. All of that happens on the scheduler's stack, outside of the handler. Registers need
//     no care: those of the interrupted code lie in the kernel's frame, on the unit's stack.
//   - Thread-local storage: a unit with one of its own keeps it, and the worker takes another (core/identities.h).
//     There must be a free one at hand, for none can be made in a handler: else the unit runs on, and one is made
//     outside (want_identity). A unit without one is left only if it has asked for signal-yield: whoever asks for that
//     says that its code does not depend on thread-local storage staying the same (3.4: "KLT-independent"). But C++'s
//     exceptions are kept there as well, and go with it.
//
// KLT-switching leaves a unit in libc only where it sleeps in a system call (docs/design/preemption.md): a lock of
// malloc's may be wanted by weft itself, on the very worker that would have to come to its holder.
//
// A unit on the caller's own memory of less than 16 KiB is never preemptive, whatever its pool or the environment says,
// and no signal's frame is put on it: those come to whatever runs on a worker (os/interrupt.h).
//
// A unit that nobody waits behind is not left. One that cannot be left where it is runs on until the next tick; if it
// has held preemption off itself, it yields when it lets go.
#include "core/preempt.h"

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/caught_exceptions.h"
#include "base/panic.h"
#include "core/active.h"
#include "core/create.h"
#include "core/give_way.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_switch.h"
#include "core/lend.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/preempt_timer.h"
#include "core/sanitizer.h"
#include "core/scheduler.h"
#include "core/segment.h"
#include "core/slices.h"
#include "core/spinners.h"
#include "core/stuck.h"
#include "core/technique/start.h"
#include "core/watchdog.h"
#include "core/watchdog_findings.h"
#include "core/workers.h"
#include "os/clock.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::core {

PreemptionSettings preemption_settings;

namespace {

using os::Interruption;

bool enabled = false;

// UnitDetails::held_off: how deep, and whether a tick has been missed.
constexpr std::uint8_t missed = 0x80;
constexpr std::uint8_t deepest = 100;

// A hint, without locks. The worker's root may wait, too: has_local_work() knows of one that has suspended. (Bug: not
// of one that runs others until a unit is done. Where what it ran was a unit that waited, in a region of the drop-in's,
// for this very root, both slept for ever.)
bool somebody_waits(const Worker& worker) {
  if (has_local_work(worker) || any_placed(worker) || is_over(worker)) return true;
  if (const Scheduler* own = worker.scheduler(); own != nullptr) return own->may_have_work();
  return find_worker([](const Worker& other) {
           if (other.scheduler() != nullptr) return false;
           if (!other.deque.looks_empty() || !other.inbox.looks_empty() || !other.aside.looks_empty()) return true;
           for (const auto& place : other.published)
             if (place.load(std::memory_order_relaxed) != nullptr) return true;
           return false;
         }) != nullptr;
}

// An allocator that is a part of the program (jemalloc, linked statically) cannot be told from the rest of it. Its
// lock, or a thread's storage that it is about to change, would be left, and weft itself needs memory then: the
// watchdog, for one, to have others run. So all of the program runs on; spare workers run what waits. (Bug: a program
// that allocated with jemalloc in it hung in three of twelve runs.)
bool can_be_left(const Worker& worker, Unit& unit, const Interruption& interruption) {
  if (interruption.in_weft || interruption.in_handler || interruption.beside_allocator) return false;
  if (worker.held_off != 0) return false;
  if (unit.state.load(std::memory_order_relaxed) != UnitState::running || !may_wait(unit)) return false;
  if (UnitDetails& of_unit = details(unit); of_unit.held_off != 0) {
    of_unit.held_off = of_unit.held_off | missed;
    return false;
  }
  return true;
}

// Whether the worker can go on without what the unit runs on.
bool identity_is_at_hand(Worker& worker, const Unit& unit) {
  if (!identities_enabled || runs_on_any_identity(unit) || details(unit).identity != nullptr) return true;
  return worker.identities.spares != nullptr || take_spare_in_handler(worker);
}

void leave_by_yield(void*) {
  Worker& worker = *this_worker();
  const base::CaughtExceptions caught;
  leave_unit_to_scheduler(worker, *worker.current, Event::yielded);
}

void give_way(Worker& worker, Unit& unit, const Interruption& interruption) {
  if (!can_be_left(worker, unit, interruption) || interruption.in_runtime) return;
  if (!somebody_waits(worker)) return;
  if (!identity_is_at_hand(worker, unit)) {
    want_identity();
    return;
  }
  ++worker.counters.preempted;
  os::leave(interruption, leave_by_yield, nullptr);
}

// Whether it did. Then the unit is back, in another worker perhaps.
bool give_klt_away(Worker& worker, Unit& unit, const Interruption& interruption) {
  if (!can_be_left(worker, unit, interruption) || !somebody_waits(worker)) return false;
  if (interruption.in_runtime && !interruption.in_sleep) return false;
  const bool is_due = std::exchange(worker.slice.early, false)
                          ? interruption.in_sleep
                          : os::now_ns() - worker.slice.began >= preemption_settings.interval_ns / 2;
  if (!is_due) return false;
  if (!identity_is_at_hand(worker, unit)) {
    want_identity();
    hurry_watchdog();
    return false;
  }
  const int kept = errno;
  ++worker.counters.preempted;
  const bool was_left = switch_klt(worker, unit, interruption.awaited);
  if (!was_left) --worker.counters.preempted;
  errno = kept;
  return was_left;
}

void on_tick(Worker& worker, const Interruption& interruption) {
  Unit* unit = worker.current;
  const Preemption kind = unit != nullptr ? kind_of(*unit) : Preemption::none;
  const bool is_preemptive = kind == Preemption::signal_yield || kind == Preemption::klt_switch;
  const bool goes_on = note_tick(worker, interruption, is_preemptive);
  if (kind == Preemption::klt_switch && give_klt_away(worker, *unit, interruption)) return;
  if (goes_on) tick_on(worker);
  if (kind == Preemption::signal_yield) give_way(worker, *unit, interruption);
}

void leave_for_watchdog(void*) { give_way_to_watchdog(); }

// The team of the outermost region that the unit belongs to, or its pool.
const void* group_of(const Unit& unit) {
  if (has_flag(unit, UnitFlag::free_standing)) return unit.pool.load(std::memory_order_relaxed);
  const Share* group = nullptr;
  for (const Share* share = scope_of(unit); share != nullptr; share = share->within.load(std::memory_order_relaxed))
    group = share;
  return group;
}

// What is inside libc now may not be there soon: a loop that polls and reads the clock is mostly there.
void ask_to_try_again(Worker& worker) {
  constexpr unsigned most = 5;
  if (worker.interrupts.tries.fetch_add(1, std::memory_order_relaxed) + 1 < most) {
    look_again_soon();
    return;
  }
  worker.interrupts.tries.store(0, std::memory_order_relaxed);
  worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
  worker.interrupts.doing.store(Doing::spins, std::memory_order_relaxed);  // nobody can tell
}

void on_watchdog(Worker& worker, const Interruption& interruption) {
  Unit* unit = worker.current;
  if (unit == nullptr) return;
  // What sleeps in libc may hold a lock of its. But it may keep a root, or who has opened a region, from ever going on.
  const bool asleep = interruption.in_sleep && keeps_root_from_going_on(worker);
  const bool in_runtime = interruption.in_runtime && !asleep;
  if (in_runtime || !can_be_left(worker, *unit, interruption)) {
    if (in_runtime)
      ask_to_try_again(worker);
    else
      worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  worker.interrupts.tries.store(0, std::memory_order_relaxed);
  const void* group = group_of(*unit);
  worker.interrupts.stuck_group.store(group, std::memory_order_relaxed);
  const Doing doing = what_it_does(*unit, interruption);
  if (doing != Doing::not_known) worker.interrupts.doing.store(doing, std::memory_order_relaxed);
  const bool is_over = slice_is_over(group, worker.interrupts.ran_ns.load(std::memory_order_relaxed));
  if (!is_over && !is_switched_off(worker)) return;
  if (asleep)
    note_moved();
  else
    note_left_at(interruption.instruction, doing == Doing::spins);
  os::leave(interruption, leave_for_watchdog, nullptr);
}

void on_interrupt(const Interruption& interruption) {
  if (base::is_ending()) return;  // what says so may have lost its stack, and be no unit any more that could be left
  Worker* worker = this_worker();
  if (stop_misplaced(interruption, worker) || worker == nullptr) return;
  // One that sleeps so takes signals that are not for it; nothing thread-local is its own then.
  if (preemption_settings.sleep == KltSleep::sigsuspend &&
      worker->klt.load(std::memory_order_relaxed) != os::this_klt())
    return;
  if (interruption.cause != Interruption::Cause::watchdog) {
    on_tick(*worker, interruption);
    return;
  }
  worker->interrupts.sent.store(false, std::memory_order_relaxed);
  worker->interrupts.arrived.fetch_add(1, std::memory_order_relaxed);
  on_watchdog(*worker, interruption);
}

// Of what runs on this KLT. A unit's end where the descriptor of its stack lies, also in a forked child, where it goes
// on as a root; those of a thread of the program's where libc has its own descriptor, on the same memory. (But for
// main's: there lie the arguments of the program.) A root on storage that another runtime lends is on a stack of that
// one's, and what lies behind may be unmapped at any time: little of it is looked at. (Bug: 256 KiB of it were.)
std::uintptr_t end_of_frames(std::uintptr_t stack_pointer) {
  const Worker* worker = this_worker();
  if (worker == nullptr || worker->current == nullptr) return UINTPTR_MAX;
  const Unit* unit = worker->current;
  const Stack* stack = innermost_stack(*unit);
  if (stack == nullptr && is_root(*unit) && worker->root.was_unit) stack = innermost_stack(*worker->root.known_as);
  if (stack != nullptr && stack->holds(reinterpret_cast<const void*>(stack_pointer)))
    return reinterpret_cast<std::uintptr_t>(stack);
  constexpr std::uintptr_t little = 4096;
  if (worker->root.borrowed.load(std::memory_order_relaxed)) return stack_pointer + little;
  const os::Identity* home = worker->identities.home;
  const auto descriptor = home != nullptr ? reinterpret_cast<std::uintptr_t>(home->thread_pointer) : 0;
  return stack_pointer < descriptor ? descriptor : UINTPTR_MAX;
}

// Whether what runs there may be left, as far as its stack goes: not what runs on a scheduler's, or on none of its own.
// Where weft changes stacks, the stack pointer may be on another one than the unit's.
bool has_room_to_be_left(std::uintptr_t stack_pointer) {
  const Worker* worker = this_worker();
  if (worker == nullptr || worker->current == nullptr) return false;
  const Unit* unit = worker->current;
  const Stack* stack = innermost_stack(*unit);
  if (stack == nullptr) return is_root(*unit);
  return stack->holds(reinterpret_cast<const void*>(stack_pointer)) && stack->size() >= smallest_preemptive_stack;
}

}  // namespace

void spare_small_stacks() { os::spare_small_stacks(has_room_to_be_left); }

bool preemption_works() { return enabled; }

void enable_preemption() {
  if (sanitizer::active) return;
  enabled = os::install_interrupt(on_interrupt, end_of_frames, preemption_settings.signal);
  if (!enabled && preemption_settings.signal != 0)
    base::warn("WEFT_PREEMPT_SIGNAL=%d: the program has a handler for it; nothing is preempted",
               preemption_settings.signal);
}

void mark(Unit& unit, Preemption kind) {
  if (kind == Preemption::by_default || unit.departed) return;
  const unsigned flags = unit.flags.load(std::memory_order_relaxed);
  constexpr unsigned kinds = UnitFlag::yields_by_signal | UnitFlag::switches_klt | UnitFlag::never_preempted;
  if ((flags & kinds) != 0 || (flags & UnitFlag::free_standing) == 0) return;
  unit.flags.fetch_or(flags_of(kind), std::memory_order_relaxed);
  if (kind != Preemption::none) start_ticking();
}

bool hold_off() {
  Unit& unit = this_unit();
  UnitDetails& of_unit = details(unit);
  if ((of_unit.held_off & ~missed) == deepest) return false;
  if (!has_flag(unit, UnitFlag::detailed)) unit.flags.fetch_or(UnitFlag::detailed, std::memory_order_relaxed);
  of_unit.held_off = static_cast<std::uint8_t>(of_unit.held_off + 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return true;
}

namespace {

bool is_held_off(std::uint8_t held_off) { return (held_off & ~missed) != 0; }

// Of one that is held off: one less deep. Whether it is no more, and a tick has been missed.
bool lower(base::Relaxed<std::uint8_t>& held_off) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const std::uint8_t now = held_off;
  const bool was_last = (now & ~missed) == 1;
  held_off = was_last ? std::uint8_t{0} : static_cast<std::uint8_t>(now - 1);
  return was_last && (now & missed) != 0;
}

}  // namespace

bool let_go() {
  Unit& unit = this_unit();
  UnitDetails& of_unit = details(unit);
  if (!is_held_off(of_unit.held_off)) return false;
  if (!lower(of_unit.held_off) || !may_wait(unit) || is_root(unit)) return true;
  ++this_worker()->counters.preempted;
  const base::CaughtExceptions caught;
  yield();
  return true;
}

namespace {

base::Relaxed<std::uint8_t>* held_off_of_caller() {
  Worker* worker = this_worker();
  if (worker == nullptr || worker->current == nullptr) return nullptr;
  return &details(is_lent_from_here(*worker) ? worker->root.unit : *worker->current).held_off;
}

}  // namespace

void hold_off_fork() {
  if (auto* held_off = held_off_of_caller(); held_off != nullptr) *held_off = static_cast<std::uint8_t>(*held_off + 1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

void let_go_after_fork() {
  auto* held_off = held_off_of_caller();
  if (held_off != nullptr && is_held_off(*held_off)) lower(*held_off);  // else it has entered weft meanwhile
}

}  // namespace weft::core
