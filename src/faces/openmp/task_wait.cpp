// The waits of the tasking constructs: taskwait, taskgroup and taskyield, and what an implicit task waits for at its
// end.
#include "faces/openmp/task_wait.h"

#include <new>
#include <utility>

#include "faces/openmp/blocks.h"
#include "faces/openmp/dependence.h"
#include "faces/openmp/ompt/watched.h"

namespace weft::openmp {
namespace {

// A wait for what a family counts: until the children of a task are complete, during which only its descendants may
// run (taskwait), or, at the end of a region, until the descriptors below it are gone.
template <bool of_descriptors>
struct FamilyWait {
  Family& family;
  const Task* task;  // of taskwait
  bool over() const { return of_descriptors ? family.no_descriptors() : family.no_children(); }
  const Task* only_below() const { return of_descriptors ? nullptr : task; }
  bool arm(TaskWaiter& waiter) {
    family.arm(waiter, of_descriptors);
    return true;
  }
  void disarm() { family.disarm(); }
};

// A wait for a counter, inside a task: only descendants of that task may run meanwhile.
struct CounterWait {
  TaskCounter& counter;
  std::uint32_t awaited;
  const Task* task;
  bool over() const { return counter.value() == awaited; }
  const Task* only_below() const { return task; }
  bool arm(TaskWaiter& waiter) {
    counter.arm(waiter);
    return true;
  }
  void disarm() { counter.disarm(); }
};

}  // namespace

void wait_for_counter(Member& member, TaskCounter& counter, std::uint32_t awaited) {
  if (counter.value() == awaited) return;
  CounterWait wait{counter, awaited, member.task};
  wait_for(member, wait);
}

// It was in vain only if the maker is at it: one that makes no tasks meanwhile may have nothing but this one, and wait
// for it in a way of its own. What the task itself has made, and left in the deque, it was worth; but what waited for
// it had come by itself.
void run_stolen(Member& member, Task& task) {
  TaskSeat& seat = seat_of(member);
  const TaskSeat::Stolen stolen = std::exchange(seat.stolen, {});
  const bool has_successors = task.dependences != nullptr;
  const std::uint64_t began = arch::ticks();
  run_task(member, task);
  const std::uint64_t now = arch::ticks();
  const bool made_some = !has_successors && !seat.deque.looks_empty();
  const auto maker_goes_on = [&stolen] { return stolen.from->deque.pushed() != stolen.pushed; };
  core::this_worker()->help_pause.took(stolen.way, made_some ? UINT64_MAX : now - began, now, maker_goes_on);
}

// While one with a priority waits somewhere, that comes first (find_task).
void run_own_tasks(Member& member) {
  const TaskPool& pool = member.team->tasks;
  const TaskSearch search;
  while (pool.urgent.load(std::memory_order_relaxed) == 0) {
    Task* task = take_newest(*member.seat);
    if (task == nullptr) return;
    run_found(member, *task, search);
  }
}

void wait_for_children(Member& member) {
  Family& family = member.task->family;
  if (family.no_children()) return;
  FamilyWait<false> gone{family, member.task};
  wait_for(member, gone);
}

void wait_for_dependences(Member& member, const DependenceList& depend, bool waits) {
  if (!member.team->tasks.used.load(std::memory_order_acquire) && !ompt::watched) return;
  TaskRequest nothing{[](void*) {}, nullptr, nullptr, 0, 1};
  // What would exclude others does so behind this, where that is the caller's code: so it waits for them as a writer.
  const DependenceList as_writer{&depend, depend.count, [](const void* source, std::size_t index) {
                                   const auto& list = *static_cast<const DependenceList*>(source);
                                   Dependence dependence = list.get(list.source, index);
                                   const bool excludes = dependence.access == Access::excludes;
                                   if (excludes && dependence.address != nullptr) dependence.access = Access::writes;
                                   return dependence;
                                 }};
  nothing.depend = &as_writer;
  nothing.deferrable = !waits;
  nothing.is_taskwait = true;
  create_task(member, nothing);
}

// Who yields again and again while others run the team's tasks waits for one of these, and they may want the CPU.
void yield_task(Member& member) {
  if (!member.team->tasks.used.load(std::memory_order_acquire)) return core::yield_where_others_wait();
  TaskSearch search = begin_search(member, member.task);
  if (Task* task = find_task(member, member.task, search); task != nullptr)
    run_found(member, *task, search);
  else
    core::yield();
}

Taskgroup& begin_taskgroup(Member& member) {
  auto group = new (take_block(sizeof(Taskgroup))) Taskgroup;
  group->outer = member.task->group;
  if (group->outer != nullptr) group->reductions = group->outer->reductions;
  member.task->group = group;
  return *group;
}

void end_taskgroup(Member& member) {
  Taskgroup* group = member.task->group;
  if (group == nullptr) return;
  wait_for_counter(member, group->count, 0);
  member.task->group = group->outer;
  free_taskgroup(*group);
}

void free_taskgroup(Taskgroup& group) { give_block(&group, sizeof group); }

// (Bug: it waited for what other members had in hand.)
void run_what_is_here(Member& member) {
  TaskSearch search;
  while (!member.implicit.family.no_descriptors()) {
    Task* task = find_task(member, nullptr, search);
    if (task == nullptr) return;
    run_found(member, *task, search);
  }
}

void end_implicit_task_that_had_children(Member& member) {
  if (!member.implicit.family.no_descriptors()) {
    if (forked_inside(*member.team)) {
      run_what_is_here(member);
    } else {
      FamilyWait<true> gone{member.implicit.family, nullptr};
      wait_for(member, gone);
    }
  }
  if (member.implicit.children_table != nullptr) free_table(member.implicit);
}

}  // namespace weft::openmp
