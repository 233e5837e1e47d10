// Waiting at a task scheduling point: taskwait, the end of a taskgroup, barriers, the end of a region.
//
// The member runs tasks of its team while it waits; finds it none, it looks on for a moment (hybrid
// waiting, dissertation Fig. 4.5: the flag and the pools in turn), then it sleeps as a listed waiter,
// and its worker goes on with other units. It is resumed by whoever ends the wait, or by an idle
// worker that saw tasks nobody runs.
//
// A task runs on the stack of the member that took it, as a call: on a segment of its own when that
// stack runs short, so that chains of tasks that wait for tasks are bounded by memory, not by a
// stack. If it suspends, the member's unit suspends, and the worker is free.
#pragma once

#include "core/scheduler.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task_waiters.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

/// Runs one explicit task on the member, here and now, and completes it.
void run_task(Member& member, Task& task);
/// The same for one that it has stolen (TaskSeat::stolen). Measures whether that was worth it.
void run_stolen(Member& member, Task& task);
/// The same for one that the member found while it waits.
inline void run_found(Member& member, Task& task, const TaskSearch& search) {
  TaskSeat& seat = seat_of(member);
  const TaskSearch before = seat.around;
  seat.around = search;
  if (seat.stolen.from != nullptr) [[unlikely]]
    run_stolen(member, task);
  else
    run_task(member, task);
  seat.around = before;
}

/// For a member that is about to wait for others, and has a seat: runs what lies in its own deque.
void run_own_tasks(Member& member);

/// Waits for a counter inside a task: only descendants of that task may run meanwhile.
void wait_for_counter(Member& member, TaskCounter& counter, std::uint32_t awaited);

/// Whether a waiting member should look again rather than sleep; `round` counts its looks.
bool keep_looking(const Team& team, unsigned round);

/// How many looks at the condition cost as much as a search in vain, which comes to the seats of all members. (Bug:
/// with 64 of them each wait took half a millisecond, thirty times as long as one that has no tasks.)
inline unsigned looks_of_a_search(const TaskPool& pool) {
  constexpr unsigned seats_in_a_look = 8;
  return pool.members.load(std::memory_order_relaxed) / seats_in_a_look;
}

/// Condition: over(), only_below() (tasks that may run meanwhile, see TaskWaiter), arm(waiter); where there is
/// something to be taken back, disarm(); and where others are to know whether the member waits or runs tasks,
/// runs_task(), called with a task in hand, and finds_no_task(), which says whether that changes anything. arm() and
/// disarm() are called under the pool's lock. Who ends the wait shall find the waiter armed; or the waiter, once it has
/// armed, shall find the wait over, or arm() say false.
template <class Condition>
void wait_for(Member& member, Condition& condition) {
  constexpr bool disarms = requires { condition.disarm(); };
  constexpr bool tells = requires { condition.runs_task(); };
  Team& team = *member.team;
  TaskPool& pool = team.tasks;
  unsigned round = 0;
  unsigned looks_to_search = 0;  // until the next search
  TaskSearch search = begin_search(member, condition.only_below());
  bool last_look = false;  // the member has looked once more since it made up its mind to sleep
  std::uint64_t offered = 0;
  while (!condition.over()) {
    const std::uint64_t elsewhere = pool.completed_elsewhere.load(std::memory_order_acquire);
    if (looks_to_search == 0 && pool.used.load(std::memory_order_acquire)) {
      if (Task* task = find_task(member, condition.only_below(), search); task != nullptr) {
        if constexpr (tells) condition.runs_task();
        run_found(member, *task, search);
        round = 0;
        last_look = false;
        continue;
      }
      if constexpr (tells)
        if (condition.finds_no_task()) continue;
      looks_to_search = looks_of_a_search(pool);
    }
    if (!last_look && keep_looking(team, round++)) {
      if (looks_to_search != 0) --looks_to_search;
      continue;
    }
    looks_to_search = 0;
    if (core::this_worker()->help_pause.end()) continue;
    const bool bound = condition.only_below() != nullptr;
    if (bound && !last_look) {
      // It may put aside one more task that is not for it. If it does, it is woken again as soon as a worker is idle:
      // in the end nothing lies hidden that one of those who sleep waits for.
      last_look = true;
      search.mistakes = 0;
      offered = tasks_offered(pool);
      continue;
    }
    last_look = false;

    core::Unit& unit = core::this_unit();
    TaskWaiter waiter{&unit, condition.only_below(), offered};
    pool.lock.lock();
    if (condition.over() || pool.completed_elsewhere.load(std::memory_order_relaxed) != elsewhere) {
      pool.lock.unlock();
      continue;
    }
    core::prepare_suspend(unit);
    list_waiter(pool, waiter);
    // Between the look and the arming; nobody can have resumed: we hold the lock, under which those who wait are woken.
    if (!condition.arm(waiter) || condition.over() ||
        (!bound && pool.used.load(std::memory_order_relaxed) && has_queued_tasks(pool))) {
      if constexpr (disarms) condition.disarm();
      unlist_waiter(pool, waiter);
      core::cancel_suspend(unit);
      pool.lock.unlock();
      continue;
    }
    pool.lock.unlock();
    core::suspend();
    if constexpr (disarms) {
      core::SpinGuard guard(pool.lock);
      condition.disarm();
    }
  }
}

/// At the end of a region that the process was forked inside, whose other members exist only in the parent: runs what
/// the member has made, and waits for nobody.
void run_what_is_here(Member& member);

/// The member's implicit task ends: it waits until nothing refers to it, but in a forked child for nothing that others
/// had in hand.
void end_implicit_task_that_had_children(Member& member);
inline void end_implicit_task(Member& member) {
  if (!member.implicit.family.no_descriptors() || member.implicit.children_table != nullptr) [[unlikely]]
    end_implicit_task_that_had_children(member);
}

}  // namespace weft::openmp
