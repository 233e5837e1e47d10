#include "faces/openmp/task_pool.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "arch/cpu.h"
#include "base/panic.h"
#include "core/find.h"
#include "core/idle.h"
#include "core/scheduler.h"
#include "faces/openmp/blocks.h"
#include "faces/openmp/members.h"
#include "faces/openmp/region_end.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/spare_task.h"
#include "faces/openmp/task_waiters.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

[[noreturn]] void no_memory() { base::panic("no memory for tasks"); }

template <class Visit>
void for_each_seat(const TaskPool& pool, Visit visit) {
  const unsigned members = pool.members.load(std::memory_order_acquire);
  auto seats = pool.seats.items();
  for (unsigned index = 0; index < members; ++index)
    if (TaskSeat* seat = seats[index].load(std::memory_order_acquire); seat != nullptr)
      if (!visit(*seat)) return;
}

// 0, 1, 3, 7 and so on.
unsigned deepest_of_class(const Task& task) {
  if (task.priority > 0) return ~0U;
  return task.depth == 0 ? 0 : ~0U >> static_cast<unsigned>(__builtin_clz(task.depth));
}

bool comes_before(const PriorityClass& each, int priority, unsigned deepest) {
  return each.priority != priority ? each.priority > priority : each.deepest < deepest;
}

// With the priority lock held.
PriorityClass& class_of(TaskPool& pool, const Task& task) {
  const unsigned deepest = deepest_of_class(task);
  PriorityClass** link = &pool.classes;
  while (*link != nullptr && comes_before(**link, task.priority, deepest)) link = &(*link)->next;
  if (*link == nullptr || (*link)->priority != task.priority || (*link)->deepest != deepest) {
    void* memory = std::malloc(sizeof(PriorityClass));
    if (memory == nullptr) no_memory();
    auto made = new (memory) PriorityClass{task.priority, deepest, nullptr, nullptr, *link};
    std::atomic_signal_fence(std::memory_order_release);  // a child may be forked in between (keep_listed_of)
    *link = made;
  }
  return **link;
}

void append(PriorityClass& own, Task& task) {
  task.listing.next = nullptr;
  task.listing.previous = own.last;
  std::atomic_signal_fence(std::memory_order_release);  // as above
  (own.last != nullptr ? own.last->listing.next : own.first) = &task;
  own.last = &task;
}

// Returns the new TaskPool::listed.
std::uint64_t put_by_priority(TaskPool& pool, Task& task) {
  core::SpinGuard guard(pool.priority_lock);
  PriorityClass& own = class_of(pool, task);
  task.listing.number = pool.listed.load(std::memory_order_relaxed) + 1;
  append(own, task);
  pool.prioritised.fetch_add(1, std::memory_order_relaxed);
  if (task.priority > 0) pool.urgent.fetch_add(1, std::memory_order_relaxed);
  pool.listed.store(task.listing.number, std::memory_order_release);
  return task.listing.number;
}

// The oldest that may be run among those with a number from `first` on.
Task* take_from_class(PriorityClass& own, const Task* only_below, std::uint64_t first) {
  if (only_below != nullptr && own.deepest <= only_below->depth) return nullptr;
  Task* found = own.first;
  if (first != 0) {
    found = nullptr;
    for (Task* task = own.last; task != nullptr && task->listing.number >= first; task = task->listing.previous)
      found = task;
  }
  while (found != nullptr && !may_run(found, only_below)) found = found->listing.next;
  if (found == nullptr) return nullptr;
  const TaskListing& at = found->listing;
  (at.previous != nullptr ? at.previous->listing.next : own.first) = at.next;
  (at.next != nullptr ? at.next->listing.previous : own.last) = at.previous;
  return found;
}

Task* take_by_priority(TaskPool& pool, const Task* only_below, std::uint64_t first) {
  core::SpinGuard guard(pool.priority_lock);
  for (PriorityClass* each = pool.classes; each != nullptr; each = each->next)
    if (Task* task = take_from_class(*each, only_below, first); task != nullptr) {
      pool.prioritised.fetch_sub(1, std::memory_order_relaxed);
      if (task->priority > 0) pool.urgent.fetch_sub(1, std::memory_order_relaxed);
      return task;
    }
  return nullptr;
}

void put_into_deque(TaskSeat& seat, Task& task) {
  seat.deque.push(&task);
  seat.offered.store(seat.offered.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

// A task has been put back, or aside. (Bug: who looked while it was in hand saw nothing, and slept over a task that was
// for him: for ever, if the others waited for what he held.) It counts as offered anew; but those who sleep in the
// kernel are woken only if there is something that they would do, for who yields may put back tasks all the time.
[[gnu::noinline]] void notify_of_what_was_in_hand(Team& team) {
  if (team.level == 0) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // partner: list_waiter(), behind which its worker looks
  if (wants_help(team.share)) core::notify(&team.share);
}

constexpr unsigned most_mistakes = 3;

// nullptr: there was a moment at which nothing was there. (Bug: or another thief was faster, and had left some.)
Task* steal_oldest(TaskSeat& victim) {
  const core::Privacy::Visit visit(&victim.privacy);
  Task* task = victim.deque.steal();
  while (task == nullptr && !victim.deque.looks_empty()) task = victim.deque.steal();
  return task;
}

Task* steal_task(Member& member, const Task* only_below, TaskSearch& search) {
  if (search.mistakes >= most_mistakes || forked_inside(*member.team)) return nullptr;  // those are the parent's, then
  TaskPool& pool = member.team->tasks;
  const unsigned members = pool.members.load(std::memory_order_relaxed);
  auto seats = pool.seats.items();
  for (unsigned step = 1; step < members; ++step) {
    TaskSeat* victim = seats[(member.number + step) % members].load(std::memory_order_acquire);
    if (victim == nullptr || victim->deque.looks_empty()) continue;
    const std::uint64_t began = arch::ticks();
    const std::int64_t pushed = victim->deque.pushed();
    Task* task = steal_oldest(*victim);
    if (task == nullptr) continue;
    if (may_run(task, only_below)) {
      seat_of(member).stolen = {victim, pushed, arch::ticks() - began};
      return task;
    }
    // It cannot be put back, and must not cover the member's own tasks.
    const std::uint64_t listed = put_by_priority(pool, *task);
    if (search.listed_to == listed) search.listed_to = listed + 1;  // nobody else has put any there
    ++search.mistakes;
    notify_of_what_was_in_hand(*member.team);
    return nullptr;
  }
  return nullptr;
}

}  // namespace

void open_pool(Team& team) {
  TaskPool& pool = team.tasks;
  {
    core::SpinGuard guard(pool.lock);
    if (pool.used.load(std::memory_order_relaxed)) return;
    if (!pool.seats.reserve(team.size)) no_memory();
    pool.members.store(team.size, std::memory_order_release);
    // The caller is a member that is not done, so the team is open and stays so.
    team.pending.fetch_or(Pending::tasks_in_use, std::memory_order_acq_rel);
    pool.used.store(true, std::memory_order_release);
    // A root outside any region has nobody to help it, and a share that is published must last for ever.
    if (team.level != 0 && team.share.published_by == nullptr) core::publish(*core::this_worker(), team.share);
  }
  if (!forked_inside(team)) wake_master_for_tasks(team);  // else that is the parent's
}

namespace {

static_assert(TaskSeat::many < usual_plenty_of_tasks);

void begin_with_few(TaskSeat& seat) {
  seat.plenty = TaskSeat::many;
  seat.enough_while = TaskSeat::not_known;
}

}  // namespace

void close_pool(Team& team) {
  TaskPool& pool = team.tasks;
  for_each_seat(pool, [](TaskSeat& seat) {
    seat.told = 0;
    begin_with_few(seat);
    seat.created.store(0, std::memory_order_relaxed);
    seat.completed.store(0, std::memory_order_relaxed);
    return true;
  });
  pool.completed_elsewhere.store(0, std::memory_order_relaxed);
  pool.members.store(0, std::memory_order_relaxed);
  pool.with_many.store(0, std::memory_order_relaxed);
  team.arrived.store(0, std::memory_order_relaxed);
}

void free_pool(TaskPool& pool) {
  for (unsigned index = 0; index < pool.seats.capacity(); ++index) {
    TaskSeat* seat = pool.seats.items()[index].load(std::memory_order_relaxed);
    if (seat == nullptr) continue;
    while (Task* task = seat->spare) {
      seat->spare = task->listing.next;
      give_block(task, task->size);
    }
    seat->~TaskSeat();
    std::free(seat);
  }
  pool.seats.clear();
  while (PriorityClass* each = pool.classes) {
    pool.classes = each->next;
    std::free(each);
  }
}

namespace {

// Of those that are listed, the ones that the member or the task in its hand has made, which may be waited for. The
// lists may be half written: forwards they hold together after each store.
void keep_listed_of(const Member& member) {
  TaskPool& pool = member.team->tasks;
  unsigned kept = 0;
  unsigned urgent = 0;
  for (PriorityClass* each = pool.classes; each != nullptr; each = each->next) {
    Task* task = each->first;
    each->first = each->last = nullptr;
    while (task != nullptr) {
      Task* next = task->listing.next;
      if (may_run(task, &member.implicit) || may_run(task, member.task)) {
        append(*each, *task);
        ++kept;
        if (task->priority > 0) ++urgent;
      }
      task = next;
    }
  }
  pool.prioritised.store(kept, std::memory_order_relaxed);
  pool.urgent.store(urgent, std::memory_order_relaxed);
}

}  // namespace

// Somebody may have held the locks. Those who wait are the parent's: the child may complete what one of them waits for,
// and must not resume it (wake_chosen).
void leave_pool_to(const Member& member) {
  TaskPool& pool = member.team->tasks;
  pool.waiters = nullptr;
  pool.free_waiters.store(0, std::memory_order_relaxed);
  pool.bound_waiters.store(0, std::memory_order_relaxed);
  pool.was_forked = true;
  pool.with_many.store(member.seat != nullptr && member.seat->has_many() ? 1 : 0, std::memory_order_relaxed);
  pool.lock.unlock();
  keep_listed_of(member);
  pool.priority_lock.unlock();
}

TaskSeat& make_seat(Member& member) {
  auto& entry = member.team->tasks.seats.items()[member.number];
  TaskSeat* seat = entry.load(std::memory_order_acquire);
  if (seat == nullptr) {
    void* memory = nullptr;
    if (posix_memalign(&memory, base::cache_line, sizeof(TaskSeat)) != 0) no_memory();
    seat = new (memory) TaskSeat;
    seat->pool = &member.team->tasks;
    seat->most_spares = keeps_blocks() ? most_spare_tasks : 0;
    entry.store(seat, std::memory_order_release);  // one member has this number at a time
  }
  member.seat = seat;
  return *seat;
}

bool is_enough_for_now(const Member& member) {
  TaskSeat& seat = *member.seat;
  TaskPool& pool = *seat.pool;
  if (!seat.has_many()) pool.with_many.fetch_add(1, std::memory_order_relaxed);
  const unsigned with_many = pool.with_many.load(std::memory_order_relaxed);
  const std::size_t most = plenty_for(member.team->size) - (with_many - 1) * settings.plenty_of_tasks;
  const std::size_t size = seat.deque.size();
  seat.plenty = std::min(size + TaskSeat::many, most);  // by then others may have more
  seat.enough_while = size >= most ? with_many : TaskSeat::not_known;
  return size >= most;
}

void has_few_again(TaskSeat& seat) {
  begin_with_few(seat);
  seat.pool->with_many.fetch_sub(1, std::memory_order_relaxed);
}

void begin_making_tasks(Member& member) {
  if (!member.team->tasks.used.load(std::memory_order_acquire)) open_pool(*member.team);
  if (member.seat != nullptr) return;
  make_seat(member);
  let_master_go_on(member);
}

bool quiescent(const Team& team) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // of two that complete last, one sees both
  std::uint64_t completed = team.tasks.completed_elsewhere.load(std::memory_order_acquire);
  std::uint64_t created = 0;
  for_each_seat(team.tasks, [&](TaskSeat& seat) {
    completed += seat.completed.load(std::memory_order_acquire);
    return true;
  });
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for_each_seat(team.tasks, [&](TaskSeat& seat) {
    created += seat.created.load(std::memory_order_acquire);
    return true;
  });
  return completed == created;
}

std::uint64_t tasks_offered(const TaskPool& pool) {
  std::uint64_t sum = pool.listed.load(std::memory_order_acquire);
  for_each_seat(pool, [&](TaskSeat& seat) {
    sum += seat.offered.load(std::memory_order_acquire);
    return true;
  });
  return sum;
}

bool has_queued_tasks(const TaskPool& pool) {
  if (pool.prioritised.load(std::memory_order_relaxed) != 0) return true;
  bool found = false;
  for_each_seat(pool, [&](TaskSeat& seat) {
    found = !seat.deque.looks_empty();
    return !found;
  });
  return found;
}

void enqueue(Member& member, Task& task) {
  TaskSeat& seat = seat_of(member);
  TaskPool& pool = member.team->tasks;
  if (task.priority > 0) {
    put_by_priority(pool, task);
  } else {
    put_into_deque(seat, task);
  }
  if (member.team->level != 0) core::notify(&member.team->share);
}

void put_back(Member& member, Task& task) {
  put_into_deque(seat_of(member), task);
  notify_of_what_was_in_hand(*member.team);
}

void enqueue_for_all(Team& team, Task& task) {
  put_by_priority(team.tasks, task);
  if (team.level != 0) core::notify(&team.share);
}

void count_completed_elsewhere(Team& team, bool made_ready) {
  wake_all_if(team.tasks, [&team, made_ready] {
    team.tasks.completed_elsewhere.fetch_add(1, std::memory_order_acq_rel);
    return tell_barrier_of_completion(team) || made_ready || quiescent(team);
  });
}

TaskSearch begin_search(Member& member, const Task* only_below) {
  if (only_below == nullptr || !member.team->tasks.used.load(std::memory_order_acquire)) return {};
  return seat_of(member).around;
}

namespace {

Task* find_listed(TaskPool& pool, const Task* only_below, TaskSearch& search) {
  if (pool.prioritised.load(std::memory_order_relaxed) == 0) return nullptr;
  const std::uint64_t listed = pool.listed.load(std::memory_order_acquire) + 1;
  if (search.listed_to == listed) return nullptr;
  if (Task* task = take_by_priority(pool, only_below, search.listed_to); task != nullptr) return task;
  search.listed_to = listed;
  return nullptr;
}

}  // namespace

Task* take_urgent(Member& member, const Task* only_below) {
  TaskPool& pool = member.team->tasks;
  if (pool.urgent.load(std::memory_order_relaxed) == 0) return nullptr;
  return take_by_priority(pool, only_below, 0);
}

// The list has a lock that all share: where nothing in it is urgent, the member's own tasks come first.
Task* find_task(Member& member, const Task* only_below, TaskSearch& search) {
  TaskPool& pool = member.team->tasks;
  const bool urgent = pool.urgent.load(std::memory_order_relaxed) != 0;
  if (urgent)
    if (Task* task = find_listed(pool, only_below, search); task != nullptr) return task;
  TaskSeat& seat = seat_of(member);
  if (seat.deque.pushed() != search.put_back_at) [[likely]]
    if (Task* task = take_newest(seat); task != nullptr) {
      if (may_run(task, only_below)) return task;
      put_back(member, *task);
      search.put_back_at = seat.deque.pushed();
    }
  if (!urgent)
    if (Task* task = find_listed(pool, only_below, search); task != nullptr) return task;
  return core::this_worker()->help_pause.is_over() ? steal_task(member, only_below, search) : nullptr;
}

}  // namespace weft::openmp
