// Tasks: the descriptor, and what can be done with it. See task.cpp for who runs a task, and where.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "faces/openmp/icv.h"

namespace weft::openmp {

struct Member;
struct DependenceList;
struct Dependences;
struct DependenceTable;
struct Event;
struct ReductionSet;
struct Task;
struct TaskPool;
struct TaskWaiter;
struct Team;

/// A count that somebody may sleep on at a task scheduling point. The sleeper sets `waiter_bit`
/// under the pool's lock and clears it under that lock; whoever would take the count to the awaited
/// value while the bit is set does so under the lock too. So the object that holds the counter
/// outlives every access: nobody touches it after a decrement outside the lock, and under the lock
/// the sleeper cannot go on.
class TaskCounter {
 public:
  explicit TaskCounter(std::uint32_t count = 0) : word_(count) {}
  void add(std::uint32_t count = 1) { word_.fetch_add(count, std::memory_order_relaxed); }
  /// Undoes an add(), where the caller knows that the count stays above what is awaited.
  void take_back(std::uint32_t count = 1) { word_.fetch_sub(count, std::memory_order_relaxed); }
  std::uint32_t value() const { return word_.load(std::memory_order_acquire) & ~waiter_bit; }
  /// Returns the new value. Resumes the sleeper if that is `awaited`.
  std::uint32_t drop(TaskPool& pool, std::uint32_t awaited, std::uint32_t count = 1) {
    std::uint32_t word = word_.load(std::memory_order_relaxed);
    while ((word & waiter_bit) == 0)
      [[likely]] if (word_.compare_exchange_weak(word, word - count, std::memory_order_acq_rel,
                                                 std::memory_order_relaxed)) return word -
          count;
    return drop_awaited(pool, awaited, count);
  }
  /// With the pool's lock held.
  void arm(TaskWaiter& waiter);
  void disarm();

 private:
  static constexpr std::uint32_t waiter_bit = 1U << 31U;
  std::uint32_t drop_awaited(TaskPool& pool, std::uint32_t awaited, std::uint32_t count);
  std::atomic<std::uint32_t> word_;
  TaskWaiter* waiter_;  // while the bit is set
};

/// What a task counts of those below it: children that are not complete, and children whose descriptors exist, since
/// the line of ancestors stays readable for as long as somebody may ask for it.
///
/// Most children are made, run and ended by the member that runs the task: then both counts are plain numbers, which
/// only that member touches. What others end is counted in `elsewhere_`, upwards; the counts are reached when what it
/// holds is what is left of the plain ones. When the task itself has ended and others still refer to it, what is
/// missing is added so that the last of them takes the count of descriptors to `all_gone`, and frees the task.
///
/// The sleeper, if any, is the task itself, and the protocol that of TaskCounter; the plain counts are read by others
/// only while it sleeps.
class Family {
 public:
  static constexpr std::uint64_t child = 1;
  static constexpr std::uint64_t descriptor = std::uint64_t{1} << 32U;

  Family() {}  // NOLINT: what is not set here costs nothing

  /// Of a task in the place of one that has ended, and that nobody refers to.
  void start_anew() {
    children_ = descriptors_ = 0;
    elsewhere_.store(0, std::memory_order_relaxed);
  }

  // The task's runner only.
  void add_child(std::uint32_t count = 1) {
    children_ += count;
    descriptors_ += count;
    if (descriptors_ >= most) [[unlikely]]
      settle();
  }
  void add_descriptor() { ++descriptors_; }
  void drop_here(std::uint64_t what) {
    children_ -= static_cast<std::uint32_t>(what);
    descriptors_ -= static_cast<std::uint32_t>(what >> 32U);
  }
  /// True at each 16th child.
  bool looks_at_children() const { return children_ % 16 == 0; }
  /// The task's runner only: how many there are, at most.
  std::uint32_t children() const { return children_ - children_in(elsewhere_.load(std::memory_order_relaxed)); }
  bool no_children() const { return children_in(elsewhere_.load(std::memory_order_acquire)) == children_; }
  bool no_descriptors() const { return descriptors_in(elsewhere_.load(std::memory_order_acquire)) == descriptors_; }
  /// The task ends, or, `goes_on`, its runner leaves it to others to say when it does. True: nobody refers to it.
  bool leave(bool goes_on) {
    const std::uint64_t missing = (all_gone - descriptors_ - (goes_on ? 1 : 0)) * descriptor;
    return descriptors_in(elsewhere_.fetch_add(missing, std::memory_order_acq_rel) + missing) == all_gone;
  }
  /// With the pool's lock held. `for_descriptors`: which of the two the sleeper waits for.
  void arm(TaskWaiter& waiter, bool for_descriptors);
  void disarm();

  /// Anybody else. True: the task has ended, and nobody else refers to it.
  bool drop_elsewhere(TaskPool& pool, std::uint64_t what) {
    std::uint64_t word = elsewhere_.load(std::memory_order_relaxed);
    while ((word & waiter_bit) == 0)
      [[likely]] if (elsewhere_.compare_exchange_weak(word, word + what, std::memory_order_acq_rel,
                                                      std::memory_order_relaxed)) return descriptors_in(word + what) ==
          all_gone;
    return drop_awaited(pool, what);
  }

 private:
  static constexpr std::uint64_t waiter_bit = std::uint64_t{1} << 31U;
  static constexpr std::uint64_t all_gone = std::uint64_t{1} << 31U;  // more than there can be
  static constexpr std::uint32_t most = std::uint32_t{1} << 30U;
  static std::uint32_t children_in(std::uint64_t word) { return static_cast<std::uint32_t>(word & (waiter_bit - 1)); }
  static std::uint32_t descriptors_in(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32U); }
  void settle();
  bool drop_awaited(TaskPool& pool, std::uint64_t what);

  std::uint32_t children_ = 0, descriptors_ = 0;
  std::atomic<std::uint64_t> elsewhere_{0};
  TaskWaiter* waiter_;       // while the bit is set
  bool awaits_descriptors_;  // while the bit is set
};

namespace ompt {
struct Record;
}

/// What a tool is told of a task. Set, and looked at, only where there is a tool (ompt/watched.h).
struct TaskNotes {
  ompt::Record* record;
  TaskNotes() {}  // NOLINT: costs nothing
};

struct Taskgroup {
  TaskCounter count;  // tasks of the group that are not complete
  Taskgroup* outer = nullptr;
  ReductionSet* reductions = nullptr;  // those of the group first, then those around it
  void* construct_data = nullptr;      // what a construct that made the group has to remember
  std::atomic<bool> cancelled{false};  // its tasks that have not begun are discarded
  bool of_worksharing = false;         // made for the reductions of a worksharing construct
};

/// Where a task stands in the list of its priority (task_pool.h), or of spare ones. Set when it comes there.
struct TaskListing {
  Task* next;
  Task* previous;
  std::uint64_t number;
  TaskListing() {}  // NOLINT: costs nothing
};

struct Task {
  Icv icv;
  Task* parent = nullptr;      // nullptr for an implicit task
  Taskgroup* group = nullptr;  // innermost taskgroup it belongs to
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  const void* key = this;  // what nestable locks know it by
  // What a new task has none of stands side by side, so that a few instructions say so.
  std::atomic<Member*> runner{nullptr};       // who runs its body; nullptr: nobody yet, or nobody in particular
  Dependences* dependences = nullptr;         // its own, as a successor and predecessor
  Event* event = nullptr;                     // of the detach clause: complete only when that is fulfilled too
  DependenceTable* children_table = nullptr;  // of its children's addresses
  Task* moved_to = nullptr;                   // of one on a stack: its descriptor now
  /// An explicit task's descriptor is freed when the task is complete and those of its children are gone; an implicit
  /// one is part of its member, which waits for that.
  Family family = {};
  int priority = 0;
  std::uint32_t depth = 0;  // explicit tasks above it
  std::uint32_t size = 0;   // of the block that it begins; 0: its memory was asked for by itself
  bool explicit_ = false;
  bool final_ = false;
  bool tied = true;
  bool on_stack = false;  // and may have to move before it has children that outlive it
  bool in_frame = false;  // the same, but it cannot move: its children may not outlive it
  bool must_run = false;  // even if cancelled: its data has been constructed, and its function destroys that
  TaskListing listing = {};
  TaskNotes notes = {};
  /// Below this address less than half is left of the stack that its body runs on (task.cpp).
  std::uintptr_t room_ends = room_unknown;
  static constexpr std::uintptr_t room_unknown = UINTPTR_MAX;  // nobody has looked
  static constexpr std::uintptr_t on_roots_stack = 0;          // that is a root's own, of which nothing is known
};

/// What a task is created with; `data` is copied.
struct TaskRequest {
  void (*function)(void*);
  void* data;
  void (*copy)(void*, void*);  // nullptr: by bytes
  std::size_t size;
  std::size_t alignment;
  const DependenceList* depend = nullptr;
  Event* event = nullptr;  // the detach clause's; see event.h
  int priority = 0;
  bool deferrable = true;  // the if clause
  bool final_ = false;
  bool tied = true;
  bool is_taskwait = false;  // there is nothing to run: taskwait with depend
};

/// Creates an explicit task of the calling member; runs it at once where it is undeferred.
/// `prepare`, if given, is called with `context` on the copied data before the task can run.
void create_task(Member& member, const TaskRequest& request, void (*prepare)(void* data, void* context) = nullptr,
                 void* context = nullptr);

/// Runs one that is undeferred, with its data where it is, and without any clause that is not named here. False: that
/// is not how this one is to be run, and create_task() sees to it.
bool run_undeferred_task(Member& member, void (*function)(void*), void* data, bool is_final, bool tied);

/// create_task in two steps, where the data is filled in between: first the descriptor, with request.size bytes behind
/// task.data (which are not initialised), then, once, the task itself. request.data, copy, depend and deferrable are
/// not looked at by the first, and only the last two by the second.
Task& allocate_task(Member& member, const TaskRequest& request);
void submit_task(Member& member, Task& task, const DependenceList* depend, bool deferrable);
/// Both for a task of the usual kind: without dependences, priority or event, and deferrable.
Task& allocate_usual_task(Member& member, void (*function)(void*), std::size_t size, bool is_final, bool tied);
void submit_usual_task(Member& member, Task& task);
/// The second where a tool is told of it (ompt/watched.h): the data's size besides.
void submit_watched_task(Member& member, Task& task, std::size_t data_size, const DependenceList* depend,
                         bool deferrable);
/// Outside any region nobody comes to a barrier: a task is run when it is created, and what was deferred, for its depth
/// or for another one, when the one at the top has ended, or at last when the member's thread ends.
void run_those_put_off(Member& member);
/// What can be said of a task between the two.
void set_priority(Task& task, int priority);
void attach_event(Task& task, Event* event);
/// Instead of the second: the task is not going to be.
void discard_task(Task& task);
/// The second, where the compiler's code runs the task's body between these two.
void begin_undeferred_task(Member& member, Task& task);
void begin_watched_undeferred_task(Member& member, Task& task, std::size_t data_size);
void end_undeferred_task(Member& member, Task& task);

/// A task that stands for several (taskloop.h). The first of them is allocate_task()'s, others are made beside it, with
/// the same parent; by who runs it.
Task& allocate_beside(const Task& task, const TaskRequest& request);
/// submit_task() for one that stands for `count`.
void submit_for_tasks(Member& member, Task& task, std::uint32_t count);
/// The current task is about to end, and has run `count` tasks that it stands for, besides the one as which it ends.
void pay_for_tasks(Member& member, std::uint32_t count);
/// The task, which somebody else than its member found to be complete: an event was fulfilled. The caller holds the
/// team open (team.h).
void complete_from_elsewhere(Team& team, Task& task);
/// The same for a member of the task's own team.
void complete_task(Member& member, Task& task);

/// taskwait: waits for the children of the current task.
void wait_for_children(Member& member);
/// taskwait with depend clauses; `waits` is false with nowait, where it only orders tasks after those before it.
void wait_for_dependences(Member& member, const DependenceList& depend, bool waits = true);
/// taskyield.
void yield_task(Member& member);

Taskgroup& begin_taskgroup(Member& member);
void end_taskgroup(Member& member);
/// One that no task has as its innermost any more.
void free_taskgroup(Taskgroup& group);

}  // namespace weft::openmp
