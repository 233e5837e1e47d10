// Units that sleep at task scheduling points: the list of them, and waking them. task_wait.h says when one sleeps.
//
// The list is guarded by the pool's lock, and a unit that stands in it is resumed by whoever takes it out, after the
// lock has been released: so once, and nothing is touched of a waiter that may be gone.
#pragma once

#include <cstdint>

#include "core/scheduler.h"
#include "faces/openmp/task_pool.h"

namespace weft::openmp {

/// A unit that sleeps. Lies on its stack.
struct TaskWaiter {
  core::Unit* unit = nullptr;
  const Task* only_below = nullptr;  // may run only descendants of this task; nullptr: any
  std::uint64_t seen = 0;            // tasks_offered() before it last looked
  TaskWaiter* next = nullptr;
  TaskWaiter* previous = nullptr;
  bool listed = false;
};

// With pool.lock held.
void list_waiter(TaskPool& pool, TaskWaiter& waiter);
void unlist_waiter(TaskPool& pool, TaskWaiter& waiter);
/// Whether it is in the list, whatever it says itself.
bool is_listed(const TaskPool& pool, const TaskWaiter& waiter);
/// Their units, to be resumed when the lock has been released; a chain by Unit::next.
core::Unit* unlist_all(TaskPool& pool);

/// Wakes the one that choose() names, under the pool's lock. False: it has named none (nullptr), or one whom others
/// have woken already.
template <class Choose>
bool wake_chosen(TaskPool& pool, Choose choose) {
  core::Unit* unit = nullptr;
  {
    core::SpinGuard guard(pool.lock);
    TaskWaiter* waiter = choose();
    if (waiter == nullptr || (pool.was_forked && !is_listed(pool, *waiter)) || !waiter->listed) return false;
    unlist_waiter(pool, *waiter);
    unit = waiter->unit;
  }
  core::resume(*unit);
  return true;
}

/// Has all look again if wanted(), called under the pool's lock, says so.
template <class Wanted>
void wake_all_if(TaskPool& pool, Wanted wanted) {
  core::Unit* chain = nullptr;
  {
    core::SpinGuard guard(pool.lock);
    if (!wanted()) return;
    chain = unlist_all(pool);
  }
  core::resume_all(chain);
}

/// All look again.
void wake_all_waiters(TaskPool& pool);

/// For an idle worker: wakes one that may find something to run. False: none does.
bool wake_waiter(TaskPool& pool);

}  // namespace weft::openmp
