// Running units, and waiting. For the faces and the sync objects; the protocol is at the head of scheduler.cpp.
#pragma once

#include "core/place_pools.h"
#include "core/ready.h"
#include "core/roots.h"
#include "core/runtime.h"
#include "core/unit.h"
#include "core/worker.h"

namespace weft::core {

/// Of the stack of a KLT of weft's: enough for a scheduler, and for a handler of the program's on top of it. Units run
/// on their own stacks.
inline constexpr std::size_t scheduler_stack_bytes = 256UL * 1024;

/// The unit of the calling KLT: a ULT, or the root's own.
inline Unit& this_unit() { return *worker_here().current; }

/// Who the caller is as the holder of something: in a forked child, still what has forked.
inline const Unit& holder() {
  const Worker& worker = worker_here();
  const Unit& unit = *worker.current;
  return is_root(unit) ? *worker.root.known_as : unit;
}

/// First half of a suspension: from here on, whoever is shown the unit may resume() it, once.
inline void prepare_suspend(Unit& unit) { unit.state.store(UnitState::suspending, std::memory_order_relaxed); }

/// Takes prepare_suspend() back; only if the unit was shown to nobody.
inline void cancel_suspend(Unit& unit) { unit.state.store(UnitState::running, std::memory_order_relaxed); }

/// Second half: gives the worker to others until somebody resumes the unit. The caller may come back
/// on another worker. A root comes back on its own KLT, and runs on it meanwhile what lies within its
/// scope (Unit::scope; any unit if it has none).
void suspend();

/// Suspends the unit, the caller's, which holds the lock and has shown itself only to those who take that lock. It is
/// released when the unit is off its stack. Not for a root, nor for a unit with thread-local storage of its own.
void park_under(Worker& worker, Unit& unit, Spinlock& lock);

/// Lets other ready units run; returns soon if there are none. A root without a scope runs one of them
/// itself; one with a scope steps aside.
void yield();
/// The same for who does not mean to wait: where no unit waits, the kernel is asked to run others one time of 32.
void yield_where_others_wait();

/// yield(), where the calling code, which may be on any KLT, asks the kernel to run others (sched_yield(2)). False: no
/// unit waits for the worker, or what runs here is not to be left now, or it is the kernel's turn; the caller asks the
/// kernel. From code that may hold a lock that weft itself may want (an allocator's), not at all.
bool yield_for_program();

/// Where what runs here has been found stuck, but in a call of weft's, which is not left by a signal: the same, at the
/// end of that call, or at its begin. From what the program calls again and again while it waits.
inline void give_way_if_wanted() {
  Worker* worker = this_worker();
  if (worker == nullptr || worker->interrupts.tries.load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  worker->interrupts.tries.store(0, std::memory_order_relaxed);
  yield_for_program();
}

/// Lets this ready unit run next on the calling worker, as long as it is there that it waits to run, and nobody else
/// can take it. False: it does not, nothing has happened.
bool yield_to(Unit& next);

/// The calling root lets another KLT have its CPU until units that wait have had their turn; returns
/// soon if there are none. It runs nothing itself, so it may hold anything. `ran_ns`: for how long it had run when the
/// watchdog interrupted it, which is how long others may run first; 0: it was not interrupted.
void step_aside(std::uint64_t ran_ns = 0);

/// Whether something waits for this very worker (a hint): units of its own, or the root whose KLT it is.
inline bool has_work_beside_hand(const Worker& worker) {
  if (worker.root.unit.state.load(std::memory_order_relaxed) == UnitState::ready) return true;
  if (worker.attended.load(std::memory_order_relaxed) != nullptr && any_placed(worker)) [[unlikely]]
    return true;
  return !worker.deque.looks_empty() || !worker.inbox.looks_empty();
}
/// The same, or members that a loop on it has claimed.
inline bool has_local_work(const Worker& worker) { return worker.in_hand != 0 || has_work_beside_hand(worker); }

/// The scheduler of a KLT of weft's; returns only when somebody has asked the worker to end.
void schedule_worker(Worker& worker);

/// For a root: runs what its worker has at hand until the unit is done or nothing is left.
void run_until_done(const Unit& unit);

/// For a worker that is lent (core/lend.h): runs this unit first, and then, if the frame that lends it `loops`,
/// what that would run until its wait is over: until `until_done` is done or nothing is left, where it is not nullptr.
/// `modes`: of that frame.
void run_lent(Worker& worker, Unit& first, weft_fp_control modes, bool loops, const Unit* until_done);

/// Runs a ready unit on the calling worker, on top of the caller, until it waits, yields or ends. `served`: a pool of
/// access priv that the worker serves meanwhile, though Pool::server does not tell.
void run_one(Worker& worker, Unit& unit, const Pool* served = nullptr);
/// The same, and it begins with the caller's floating-point modes.
void run_one_as_here(Worker& worker, Unit& unit);

}  // namespace weft::core
