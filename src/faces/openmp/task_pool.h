// The tasks of a team that wait to be run.
//
// Each member that has to do with tasks has a seat in the pool: a deque of its own, and two counts
// that only it writes. A member takes from its own deque first (the newest), then from the team's list (before the
// deque, where that holds something of a higher priority), then steals (the oldest). Seats exist from the first task of
// a team on; a team without tasks pays one load.
//
// Barriers count what is pending in a word of their own (Team::arrived). Elsewhere, as at the end of a region, all
// explicit tasks have ended when, with every member there (so that only tasks make tasks), the sum of `completed`, read
// first, equals the sum of `created`, read afterwards: counts only grow and completed never exceeds created, so equal
// sums mean that nothing was pending at the moment between the two readings.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/kept_array.h"
#include "base/layout.h"
#include "core/pool/deque.h"
#include "core/privacy.h"
#include "core/spinlock.h"
#include "core/unit.h"
#include "faces/openmp/member.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/task.h"

namespace weft::openmp {

struct Team;
struct TaskPool;

/// What a member knows while it waits, or what the wait knows in which its task runs: tasks that this one's wait may
/// run are below those that the one around may run, so that what the one around found in vain is in vain here too.
/// Without it, members that wait deep in a tree of tasks would each go through all that others have put aside.
struct TaskSearch {
  unsigned mistakes = 0;        // tasks stolen that it may not run
  std::uint64_t listed_to = 0;  // 1 more than TaskPool::listed before the list was gone through in vain; 0: it was not
  /// Deque::pushed() when the newest of the member's own was put back, since it may not run; -1: none was. Until that
  /// changes nothing in the deque is for the wait: what comes there while a task runs is below that task (made below
  /// it, or made ready by a sibling's end), and lies above all that was there before.
  std::int64_t put_back_at = -1;
};

struct TaskSeat {
  core::Deque<Task> deque;  // others than its member's thread: within a Privacy::Visit
  core::Privacy privacy;
  TaskSearch around;       // the wait in which the member's task runs
  std::uint64_t told = 0;  // of `created` less `completed`: what Team::arrived has been told of
  Task* spare = nullptr;   // the last of those that are kept (spare_task.h), numbered from 1
  unsigned most_spares;
  static constexpr std::size_t many = 16;  // whose deque holds so many is counted in TaskPool::with_many
  static constexpr unsigned not_known = ~0U;
  std::size_t plenty = many;          // so many may be enough (has_plenty()); more than `many`: the member is counted
  unsigned enough_while = not_known;  // they are, as long as TaskPool::with_many is this
  TaskPool* pool = nullptr;
  bool has_many() const { return plenty != many; }
  struct Stolen {
    const TaskSeat* from = nullptr;  // nullptr: what was found last was not stolen, or runs already
    std::int64_t pushed = 0;         // Deque::pushed() there, before
    std::uint64_t way = 0;           // the ticks that it took
  } stolen;
  alignas(base::cache_line) std::atomic<std::uint64_t> created{0};
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> offered{0};  // tasks put into the deque, or back there
};

/// Tasks of one priority, in the order in which they came. Of those without a priority, which somebody has come across
/// who could not run them, each class has those of about one depth: who may run only what is deeper need not go
/// through the others, and in a deep tree nearly all of them are at its root.
struct PriorityClass {
  int priority;
  unsigned deepest;  // that a task in it may be
  Task* first = nullptr;
  Task* last = nullptr;
  PriorityClass* next = nullptr;  // lower, or deeper
};

struct TaskPool {
  std::atomic<bool> used{false};
  base::KeptArray<TaskSeat*> seats;  // by member number; entries appear with the first use
  std::atomic<unsigned> members{0};  // entries of `seats` that this region may use
  /// Of those, which have many tasks in their deque. Changes seldom, and is looked at by all that have.
  std::atomic<unsigned> with_many{0};

  core::Spinlock lock;                       // guards what follows, and the release of the team's barrier
  TaskWaiter* waiters = nullptr;             // task_waiters.h
  bool was_forked = false;                   // there may be other waiters: the parent's
  std::atomic<unsigned> free_waiters{0};     // those that may run any task
  std::atomic<unsigned> bound_waiters{0};    // those that may run only some
  std::atomic<std::uint64_t> bound_seen{0};  // not more than any of those has seen
  /// Tasks that were completed by others than members. Changes under the lock, and one that would sleep looks again if
  /// it has changed since its last look.
  std::atomic<std::uint64_t> completed_elsewhere{0};

  // Tasks with a priority, and those that whoever came across them could not run; highest priority first. Classes stay
  // when they are empty.
  core::Spinlock priority_lock;
  PriorityClass* classes = nullptr;
  std::atomic<unsigned> prioritised{0};
  std::atomic<unsigned> urgent{0};       // those of them that have a priority
  std::atomic<std::uint64_t> listed{0};  // tasks put into the list so far
};

/// For a member that makes its first task, or the first of its team: opens the pool, and takes the seat.
void begin_making_tasks(Member& member);
/// For one of which the team's master, which has started it, waits below: leaves, so that the master can run tasks. Or
/// nobody might run this one's, and it may wait for them in a way of its own.
void let_master_go_on(const Member& member);

/// The member's seat; made on first use.
TaskSeat& make_seat(Member& member);
inline TaskSeat& seat_of(Member& member) { return member.seat != nullptr ? *member.seat : make_seat(member); }

/// For the member of a seat that has had many tasks, and has few now.
void has_few_again(TaskSeat& seat);
/// The newest task of the calling member's own deque, or nullptr.
inline Task* take_newest(TaskSeat& seat) {
  Task* task = seat.deque.pop(seat.privacy);
  if (seat.has_many() && seat.deque.size() < TaskSeat::many / 2) [[unlikely]]
    has_few_again(seat);
  return task;
}

/// How many tasks that nobody has taken are enough for a team. No fewer than with libgomp: a program may have tasks
/// that wait for their creator.
inline std::uint64_t plenty_for(unsigned team_size) { return settings.plenty_of_tasks * team_size; }

/// Of a member whose deque holds TaskSeat::plenty: whether that is enough, as others have many too. Else there are more
/// to come.
bool is_enough_for_now(const Member& member);
/// Whether the member's deque holds as many tasks as it shall: its part of what is enough for the team, and the parts
/// of those that have only a few.
inline bool has_plenty(const Member& member) {
  const TaskSeat* seat = member.seat;
  if (seat == nullptr || seat->deque.size() < seat->plenty) return false;
  return seat->enough_while == seat->pool->with_many.load(std::memory_order_relaxed) || is_enough_for_now(member);
}

/// The region is about to use tasks: makes seats, and holds the team open.
void open_pool(Team& team);

/// The region is over: the counts start again from 0, for a next region of another size.
void close_pool(Team& team);

/// Frees what the pool owns; nobody uses it any more.
void free_pool(TaskPool& pool);

/// In a forked child, for each team that what forked is a member of: all others are the parent's, with the locks that
/// they hold, the units that wait, and the tasks that they have listed.
void leave_pool_to(const Member& member);

/// All tasks of the region have ended (see above).
bool quiescent(const Team& team);

/// There is a task somewhere that can be taken (a hint).
bool has_queued_tasks(const TaskPool& pool);

/// How often a task has been put where it can be found.
std::uint64_t tasks_offered(const TaskPool& pool);

void enqueue(Member& member, Task& task);
/// The same for one that take_newest() has given, and that may not be run where the member is.
void put_back(Member& member, Task& task);
/// Where every member finds it at once; by anybody. For a task that may not be one that the caller may run.
void enqueue_for_all(Team& team, Task& task);

/// Counts a task that was completed by somebody who is no member of the team, and has those who wait look again if that
/// made other tasks ready or was the last.
void count_completed_elsewhere(Team& team, bool made_ready);

/// Whether the task is one that may run in a wait with this `only_below` (as in TaskWaiter).
inline bool may_run(const Task* task, const Task* only_below) {
  if (only_below == nullptr) return true;
  while (task->depth > only_below->depth) task = task->parent;
  return task == only_below;
}

/// A wait of the member's begins, in which it may run such tasks (`only_below` as in TaskWaiter).
TaskSearch begin_search(Member& member, const Task* only_below);
/// The first of those with a priority that the member may run, or nullptr.
Task* take_urgent(Member& member, const Task* only_below);
/// A task that the member may run now; for run_found(). After a few mistakes it steals no more, since tasks that are of
/// no use to it are then all there is.
Task* find_task(Member& member, const Task* only_below, TaskSearch& search);

}  // namespace weft::openmp
