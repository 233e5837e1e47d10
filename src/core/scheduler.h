// Running units, waiting, waking. For the faces and the sync objects; the protocol is at the head of
// scheduler.cpp.
#pragma once

#include "core/place_pools.h"
#include "core/roots.h"
#include "core/runtime.h"
#include "core/unit.h"
#include "core/worker.h"
#include "os/barrier.h"

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

/// Resumes units that parked on `home`, linked by Unit::next from the newest to the oldest, in a barrier. None of
/// them is touched if they are another worker's.
void resume_chain(Worker& home, Unit* newest, Unit* oldest);

/// Makes a suspended (or suspending) unit ready. Any KLT of the process that has entered weft.
void resume(Unit& unit);

/// Resumes a chain linked by Unit::next: each goes back to the worker it ran on last.
void resume_all(Unit* chain);

/// Lets other ready units run; returns soon if there are none. A root without a scope runs one of them
/// itself; one with a scope steps aside.
void yield();

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

/// resume() and yield() at once: the unit runs next on the calling worker, where that can be.
void resume_to(Unit& next);

/// The calling root lets another KLT have its CPU until units that wait have had their turn; returns
/// soon if there are none. It runs nothing itself, so it may hold anything.
void step_aside();

/// Makes a created unit ready, in the calling worker's own deque, whatever scheduler or pool there is.
void start(Unit& unit);

/// Tells idle workers that there is work that they can find, and what it belongs to (nullptr: not known,
/// or to nothing). Call after publishing it. In a handler nothing may be allocated, so no KLT is started.
void notify_slow(const Share* scope, bool in_handler = false);
inline void notify(const Share* scope = nullptr, bool in_handler = false) {
  os::light_fence();
  if (runtime.sleepers.load(std::memory_order_relaxed) > 0) notify_slow(scope, in_handler);
}

/// Offers a share on the calling worker, for others to take from; follow it with notify().
void publish(Worker& worker, Share& share);
/// Withdraws it; from any worker. Late thieves may still look at the share afterwards.
void unpublish(Share& share);

/// How many workers look for work at this moment, or have been woken to.
inline unsigned searchers() {
  const std::int32_t count = runtime.searchers.load(std::memory_order_relaxed);
  return count > 0 ? static_cast<unsigned>(count) : 0;
}

/// Whether it makes sense for the worker, the caller's, to spin: there is a CPU for each KLT that is awake, and its own
/// is not wanted by others (core/courtesy.h). `now`: os::now_ns(). Not cheap.
bool spinning_pays(const Worker& worker, std::uint64_t now);

/// Whether something waits for this very worker (a hint): units of its own, or the root whose KLT it is.
inline bool has_work_beside_hand(const Worker& worker) {
  if (worker.root.unit.state.load(std::memory_order_relaxed) == UnitState::ready) return true;
  if (worker.attended.load(std::memory_order_relaxed) != nullptr && any_placed(worker)) [[unlikely]]
    return true;
  return !worker.deque.looks_empty() || !worker.inbox.looks_empty();
}
/// The same, or members that a loop on it has claimed.
inline bool has_local_work(const Worker& worker) { return worker.in_hand != 0 || has_work_beside_hand(worker); }

/// Whether the worker has something that another could run (a hint).
bool offers_work(const Worker& worker);
/// The first of the shares it offers that is not used up (a hint); nullptr: none.
const Share* offered_share(const Worker& worker);

/// The scheduler of a KLT of weft's; returns only when somebody has asked the worker to end.
void schedule_worker(Worker& worker);

/// Where a unit without a pool goes that is ready on this worker, or was there last: from one with a scheduler of its
/// own, which has pools to run first, and which nobody takes anything away from, to one of weft's, if there is any.
Worker& open_worker(Worker& worker);

/// Puts a ready unit where it belongs, and tells those who may run it.
void put_ready(Worker& worker, Unit& unit);

/// Under a custom scheduler that has pools, and looks only into these: puts what lies at the worker itself into the
/// first of them. That was there before the worker had the scheduler, or has no other worker to go to.
void put_own_into_pool(Worker& worker);

/// For a root: runs what its worker has at hand until the unit is done or nothing is left.
void run_until_done(const Unit& unit);

/// For a worker that is lent (core/klt_switch.h): runs this unit first, and then, if the frame that lends it `loops`,
/// what that would run until its wait is over: until `until_done` is done or nothing is left, where it is not nullptr.
/// `modes`: of that frame.
void run_lent(Worker& worker, Unit& first, weft_fp_control modes, bool loops, const Unit* until_done);

/// A ready unit in hand goes behind what is ready on the worker; nobody is told.
void put_behind_all_others(Worker& worker, Unit& unit);

/// A ready unit in hand that has yielded, or is not run after all: behind all others, in its pool or on the worker.
void put_back_passed_over(Worker& worker, Unit& unit);
/// The same of the one that has just yielded and left its stack.
void put_back_yielded(Worker& worker, Unit& unit);

/// Of the next unit's KLT, which comes back from where that was left: the one that was left for it is as after yield().
/// No lock that the interrupted code may hold, no memory.
void put_back_preempted(Worker& worker, Unit& unit);

/// Runs a ready unit on the calling worker, on top of the caller, until it waits, yields or ends. `served`: a pool of
/// access priv that the worker serves meanwhile, though Pool::server does not tell.
void run_one(Worker& worker, Unit& unit, const Pool* served = nullptr);
/// The same, and it begins with the caller's floating-point modes.
void run_one_as_here(Worker& worker, Unit& unit);

}  // namespace weft::core
