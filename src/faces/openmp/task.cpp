// Explicit tasks: creation, execution and completion.
//
// A deferred task goes into the deque of the member that creates it (or the team's priority list);
// it is run by a member at a scheduling point, or by an idle worker on a seat whose member is done.
// Tied tasks keep to the Task Scheduling Constraint (OpenMP 5.2, 12.9): a member that waits inside a
// task runs only descendants of it (TaskWaiter::only_below). Untied tasks are run as tied ones.
//
// What need not be deferred is run as a call where it is created, with its descriptor on the stack: tasks inside of a
// final one; undeferred ones; those of a team of one member; and those of a member that has made many already that
// nobody has taken yet (has_plenty). The first leave nothing behind. The others may, if tasks are deferred below them
// after all: those with an event, and those below some depth (most_nested), or a chain of nested tasks would be as deep
// as it is long. When the first of those is created, the descriptors that it comes below move off the stack
// (task_descriptor.h).
//
// Tasks with dependences are not run where they are created, since they may have to wait. Instead, who has created many
// that are not complete runs some of the others that lie in its deque (run_some_of_many): so their number is bounded as
// well, unless all of it waits for what others run.
//
// Running a task at once is no way to make its creator wait: it is run as a call, and if it suspends, so does the
// member, whose queued tasks others take meanwhile. A creator that holds a lock which its task takes too waits for
// itself, as it would at any other task scheduling point.
//
// Order at completion: successors, group and parent are told first, then the seat counts the task as
// completed. Until it does, the region cannot end, so the team and its pool are alive. The parent may
// be an implicit task on another member's stack, whose end is not the region's: such a member stays
// until no descriptor refers to its task any more (end_implicit_task).
#include "faces/openmp/task.h"

#include <cstdlib>
#include <cstring>

#include "base/panic.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/dependence.h"
#include "faces/openmp/event.h"
#include "faces/openmp/ompt/sanitized_program.h"
#include "faces/openmp/ompt/tasks.h"
#include "faces/openmp/report.h"
#include "faces/openmp/spare_task.h"
#include "faces/openmp/task_body.h"
#include "faces/openmp/task_descriptor.h"
#include "faces/openmp/task_wait.h"

namespace weft::openmp {
namespace {

// ---------------------------------------------------------------- life

constexpr std::uint32_t most_nested = 32;

// Whether so many tasks wait already that one of the priority is run where it is created. (Bug: those with a priority,
// which lie in no member's deque, had no bound.)
inline bool is_one_too_many(const Member& member, int priority) {
  if (has_plenty(member)) return true;
  if (priority <= 0) [[likely]]
    return false;
  return member.team->tasks.urgent.load(std::memory_order_relaxed) >= plenty_for(member.team->size);
}

[[gnu::noinline]] void construct_data(Member& member, Task& task, const TaskRequest& request) {
  task.must_run = true;
  if (ompt::watched) task.notes.record = nullptr;  // a tool has not been told of it yet
  Task* creator = member.task;                     // the copies are made in the data environment of the new task
  task.room_ends = creator->room_ends;
  member.task = &task;
  request.copy(task.data, request.data);
  go_back_to(member, creator);
}

inline void copy_data(Member& member, Task& task, const TaskRequest& request) {
  if (request.copy != nullptr)
    construct_data(member, task, request);
  else if (request.size != 0)
    std::memcpy(task.data, request.data, request.size);
}

// True: the task is to be freed.
inline bool tell(TaskPool& pool, Member* member, Task& task, std::uint64_t what) {
  if (member == nullptr || task.runner.load(std::memory_order_relaxed) != member)
    return task.family.drop_elsewhere(pool, what);
  task.family.drop_here(what);
  return false;
}

// The task is complete; its parent is told, and descriptors that nobody needs any more are freed. `left`: by its
// runner, who is not the one that calls. Until a descriptor is gone it keeps its parent's.
inline void end_descriptor(TaskPool& pool, Member* member, Task& task, bool left) {
  Task* parent = task.parent;
  std::uint64_t what = Family::child + Family::descriptor;
  if (left || !task.family.no_descriptors()) [[unlikely]] {
    tell(pool, member, *parent, Family::child);
    what = Family::descriptor;
    task.runner.store(nullptr, std::memory_order_relaxed);
    if (!(left ? task.family.drop_elsewhere(pool, Family::descriptor) : task.family.leave(false))) return;
  }
  const bool plain = task.dependences == nullptr && task.event == nullptr;
  if (member == nullptr || !plain || !keep_as_spare(*member, task)) free_task(task);
  while (tell(pool, member, *parent, what)) {
    Task* above = parent->parent;
    free_task(*parent);
    parent = above;
    what = Family::descriptor;
  }
}

// All of a completion but its count. `left`: see end_descriptor. True: it made other tasks ready.
bool finish(Team& team, Member* member, Task& task, bool left) {
  TaskPool& pool = team.tasks;
  const bool made_ready = task.dependences != nullptr && release_successors(team, member, task);
  if (task.children_table != nullptr) free_table(task);
  if (task.group != nullptr) task.group->count.drop(pool, 0);
  end_descriptor(pool, member, task, left);
  return made_ready;
}

void count_completed(Member& member, std::uint32_t count = 1) {
  TaskSeat& seat = seat_of(member);
  seat.completed.store(seat.completed.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

// On the member that ran it.
void complete(Member& member, Task& task) {
  finish(*member.team, &member, task, false);
  count_completed(member);
}

// The same, for one with an event.
void complete_left(Member& member, Task& task) {
  finish(*member.team, &member, task, true);
  count_completed(member);
}

// The body of a task with an event has ended: from here on anybody may find that the task is complete.
void leave_to_others(Task& task) {
  task.runner.store(nullptr, std::memory_order_relaxed);
  task.family.leave(true);
}

inline void count_created(Member& member, Task& task, std::uint32_t count = 1) {
  task.parent->family.add_child(count);
  if (task.group != nullptr) task.group->count.add(count);
  TaskSeat& seat = seat_of(member);
  seat.created.store(seat.created.load(std::memory_order_relaxed) + count, std::memory_order_release);
  count_task();
}

// A tool is told that the task's body has ended. Nobody else can find the task to be complete yet.
void tell_end_of_body(Member& member, Task& task) {
  const bool detached = task.event != nullptr && ompt::body_ends_before_fulfilment(task);
  ompt::task_ends(member, task, detached ? ompt::TaskStatus::detach : ompt::end_of(member, task));
}

// run_body() where a tool is told of it.
[[gnu::noinline]] void run_watched_body(Member& member, Task& task) {
  ompt::task_begins(member, task);
  run_body<ompt::call_task_body>(member, task, false, !ompt::members_have_stacks());
  tell_end_of_body(member, task);
}

}  // namespace

void run_those_put_off(Member& member) {
  if (member.task->parent != nullptr) return;
  if (!member.team->tasks.used.load(std::memory_order_relaxed)) return;
  TaskSearch search;
  while (Task* task = find_task(member, nullptr, search)) run_found(member, *task, search);
}

namespace {

// A task on the stack whose data has to be copied, or with an event.
[[gnu::noinline]] void run_special_in_place(Member& member, Task& task, const TaskRequest& request,
                                            void (*prepare)(void*, void*), void* context) {
  constexpr std::size_t most_on_stack = 4096;
  void* copied = nullptr;
  void* kept = nullptr;
  if (request.copy != nullptr || prepare != nullptr) {
    const std::size_t alignment = request.alignment > 16 ? request.alignment : 16;
    if (request.size <= most_on_stack)
      copied = __builtin_alloca(request.size + alignment);
    else
      copied = kept = std::malloc(request.size + alignment);
    if (copied == nullptr) base::panic("no memory for a task with %zu bytes of data", request.size);
    const auto address = reinterpret_cast<std::uintptr_t>(copied);
    task.data = reinterpret_cast<void*>((address + alignment - 1) & ~(alignment - 1));
    copy_data(member, task, request);
    if (prepare != nullptr) prepare(task.data, context);
  }
  if (request.event != nullptr) attach_event(task, request.event);
  run_body(member, task, true);
  if (task.event != nullptr) wait_for_event(member, task);
  std::free(kept);
}

// A task that its creator has run at once, and which nobody waits for, is complete.
void end_uncounted(Member& member, Task& task) {
  task.runner.store(nullptr, std::memory_order_relaxed);
  if (!task.family.leave(false)) return;
  TaskPool& pool = member.team->tasks;
  Task* ended = &task;
  do {
    Task* parent = ended->parent;
    free_task(*ended);
    ended = parent;
  } while (tell(pool, &member, *ended, Family::descriptor));
}

[[gnu::noinline]] void end_moved(Member& member, Task& moved) {
  if (moved.children_table != nullptr) free_table(moved);
  end_uncounted(member, moved);
}

// A task that is run here and now, with its descriptor on the stack. Where it may not leave children behind, all below
// it is included in it.
[[gnu::always_inline]] inline void run_here(Member& member, const TaskRequest& request, void (*prepare)(void*, void*),
                                            void* context, bool may_leave_children) {
  Task task = child_of(*member.task, request);
  task.on_stack = may_leave_children;
  task.in_frame = !may_leave_children;
  task.data = request.data;
  count_task();
  if (request.copy != nullptr || prepare != nullptr || request.event != nullptr) [[unlikely]]
    run_special_in_place(member, task, request, prepare, context);
  else
    run_body(member, task, true);
  if (task.moved_to != nullptr) [[unlikely]]
    end_moved(member, *task.moved_to);
  else if (task.children_table != nullptr) [[unlikely]]
    free_table(task);  // of a final one, whose children LLVM's code gave dependences
  if (may_leave_children && member.team->level == 0) run_those_put_off(member);
}

[[gnu::noinline]] void run_in_place(Member& member, const TaskRequest& request, void (*prepare)(void*, void*),
                                    void* context, bool may_leave_children) {
  run_here(member, request, prepare, context, may_leave_children);
}

// A task with a descriptor of its own, that its creator runs before it goes on: nobody waits for it, so it is not
// counted. It holds its parent only if descendants of its own outlive it.
inline void end_at_once(Member& member, Task& task) {
  if (task.children_table != nullptr) [[unlikely]]
    free_table(task);
  if (task.family.no_descriptors()) [[likely]] {
    if (!keep_as_spare(member, task)) free_task(task);
    return;
  }
  task.parent->family.add_descriptor();
  end_uncounted(member, task);
}

[[gnu::noinline]] void run_at_once(Member& member, Task& task) {
  count_task();
  if (!is_discarded(member, task)) [[likely]] {
    call_body<call_task>(member, task, true);
    member.task = task.parent;  // who created it; not on the stack (make_task), so it has not moved
  }
  end_at_once(member, task);
  if (member.team->level == 0) run_those_put_off(member);
}

bool must_run_at_once(const Member& member, const Task& task) {
  return member.team->level == 0 && task.depth <= most_nested;
}

// The body of a task with an event has ended. Whether the task has too: else it belongs to who fulfils the event.
bool end_detached(Member& member, Task& task) {
  leave_to_others(task);
  if (!end_body_of_detached(member, task)) return false;
  complete_left(member, task);
  return true;
}

// The same of an undeferred one, which its creator has run: whether he waits for the event, event.h says. (Bug: with
// LLVM's code he always did, and a final task that fulfils the event of its child behind that hung.)
bool end_undeferred_detached(Member& member, Task& task) {
  if (!task.event->creator_waits && !task.parent->in_frame) return end_detached(member, task);
  leave_to_others(task);
  wait_for_event(member, task);
  complete_left(member, task);
  return true;
}

// False: it is complete only when its event is fulfilled.
bool end_undeferred(Member& member, Task& task) {
  if (task.event != nullptr) [[unlikely]]
    return end_undeferred_detached(member, task);
  complete(member, task);
  return true;
}

// The body of an undeferred task.
[[gnu::noinline]] void run_watched_undeferred(Member& member, Task& task) {
  ompt::Record& record = *task.notes.record;
  run_watched_body(member, task);
  if (end_undeferred(member, task)) ompt::release(record);
}

// One that is undeferred, or created outside of any region; it has been counted.
[[gnu::noinline]] void submit_special(Member& member, Task& task, const DependenceList* depend, bool deferrable) {
  const bool ready = depend == nullptr || register_dependences(member, task, *depend, deferrable);
  if (!deferrable) {
    if (!ready) wait_for_counter(member, task.dependences->unresolved, 0);
    if (ompt::watched) {
      run_watched_undeferred(member, task);
    } else {
      run_body(member, task);
      end_undeferred(member, task);
    }
  } else if (ready) {
    if (must_run_at_once(member, task))
      run_task(member, task);
    else
      enqueue(member, task);
  }
  if (member.team->level == 0) run_those_put_off(member);
}

// As many children of the current task as may wait at a time. Some of them have dependences to wait for.
inline std::uint64_t most_children(const Member& member) {
  constexpr std::uint64_t kept_waiting = 4;  // by dependences, for each that is plenty
  return kept_waiting * plenty_for(member.team->size);
}

// The current task has reached that. Creating a task is a task scheduling point: descendants of the current task may be
// run. Not more at a time than the worker keeps blocks for: else these go by way of the common list, and from worker to
// worker.
[[gnu::noinline]] void run_some_of_many(Member& member) {
  constexpr unsigned some = BlockCache::batch;
  TaskSeat& seat = seat_of(member);
  const Task* below = member.task->explicit_ ? member.task : nullptr;
  while (member.task->family.children() > most_children(member) - some) {
    Task* task = take_newest(seat);
    if (task != nullptr && !may_run(task, below)) return put_back(member, *task);
    if (task == nullptr) task = take_urgent(member, member.task);
    if (task == nullptr) return;
    run_found(member, *task, seat.around);
  }
}

// Looks now and then: others write the count too.
inline void bound_children(Member& member) {
  const Family& family = member.task->family;
  if (family.looks_at_children() && family.children() > most_children(member)) [[unlikely]]
    run_some_of_many(member);
}

void submit_with_dependences(Member& member, Task& task, const DependenceList& depend) {
  if (register_dependences(member, task, depend, true)) enqueue(member, task);
  bound_children(member);
}

[[gnu::always_inline]] inline void be_ready_to_make_tasks(Member& member) {
  if (member.seat == nullptr || !member.team->tasks.used.load(std::memory_order_acquire)) [[unlikely]]
    begin_making_tasks(member);
}

[[gnu::always_inline]] inline void submit_counted(Member& member, Task& task, const DependenceList* depend,
                                                  bool deferrable) {
  be_ready_to_make_tasks(member);
  count_created(member, task);
  if (!deferrable || member.team->level == 0) [[unlikely]]
    submit_special(member, task, depend, deferrable);
  else if (depend == nullptr)
    enqueue(member, task);
  else
    submit_with_dependences(member, task, *depend);
}

[[gnu::always_inline]] inline void submit(Member& member, Task& task, const DependenceList* depend, bool deferrable) {
  if (depend == nullptr && task.event == nullptr && (!deferrable || is_one_too_many(member, task.priority)) &&
      task.depth <= most_nested)
    return run_at_once(member, task);
  submit_counted(member, task, depend, deferrable);
}

[[gnu::noinline]] void create_own(Member& member, const TaskRequest& request, void (*prepare)(void*, void*),
                                  void* context) {
  Task& task = make_task(member, request);
  copy_data(member, task, request);
  if (prepare != nullptr) prepare(task.data, context);
  submit(member, task, request.depend, request.deferrable);
}

[[gnu::always_inline]] inline void place(Member& member, const TaskRequest& request, void (*prepare)(void*, void*),
                                         void* context) {
  const Team& team = *member.team;
  if (member.task->final_) return run_in_place(member, request, prepare, context, false);
  const bool alone = team.size == 1 && !team.tasks.used.load(std::memory_order_relaxed);
  // One that is undeferred is over before its creator makes another. So it is only to wait for those that have said so.
  const bool depends = request.depend != nullptr && (request.deferrable || member.task->children_table != nullptr);
  if (request.event == nullptr && member.task->depth < most_nested &&
      (alone || (!depends && (!request.deferrable || is_one_too_many(member, request.priority)))))
    return run_in_place(member, request, prepare, context, true);
  create_own(member, request, prepare, context);
}

// For a tool, every task has a descriptor of its own, is counted, and is run at once only if it was told so.
void create_watched(Member& member, const TaskRequest& request, void (*prepare)(void*, void*), void* context) {
  Task& task = make_task(member, request);
  copy_data(member, task, request);
  if (prepare != nullptr) prepare(task.data, context);
  const bool deferrable = request.deferrable && !ompt::runs_at_once(member, request.event);
  ompt::task_is_created(member, task, request.size, request.depend, deferrable, request.is_taskwait);
  submit_counted(member, task, request.depend, deferrable);
}

[[gnu::noinline]] void place_attended(Member& member, const TaskRequest& request, void (*prepare)(void*, void*),
                                      void* context) {
  // Bug: one that only waited for dependences did not, and the code behind it went on.
  const bool waits = request.is_taskwait && !request.deferrable;
  if (waits || !creates_nothing(member))
    ompt::watched ? create_watched(member, request, prepare, context) : place(member, request, prepare, context);
  else if (request.event != nullptr)
    forget_event(member, *request.event);
}

}  // namespace

void complete_task(Member& member, Task& task) {
  ompt::Record* record = ompt::record_of(task);
  finish(*member.team, nullptr, task, true);
  count_completed(member);
  if (record != nullptr) ompt::release(*record);
}

void complete_from_elsewhere(Team& team, Task& task) {
  ompt::Record* record = ompt::record_of(task);
  count_completed_elsewhere(team, finish(team, nullptr, task, true));
  if (record != nullptr) ompt::release(*record);
}

namespace {

// False: it is complete only when its event is fulfilled.
bool run_unless_discarded(Member& member, Task& task) {
  const bool discarded = is_discarded(member, task);
  if (discarded && ompt::watched)
    ompt::task_is_discarded(member, task);
  else if (!discarded)
    ompt::watched ? run_watched_body(member, task) : run_body(member, task);
  if (task.event == nullptr) {
    complete(member, task);
    return true;
  }
  if (!discarded || !may_forget(*task.event)) return end_detached(member, task);
  leave_to_others(task);
  forget_event(member, *task.event);
  complete_left(member, task);
  return true;
}

[[gnu::noinline]] void run_attended_task(Member& member, Task& task) {
  ompt::Record* record = ompt::record_of(task);
  if (run_unless_discarded(member, task) && record != nullptr) ompt::release(*record);
}

}  // namespace

void run_task(Member& member, Task& task) {
  if (settings.attends_tasks) [[unlikely]]
    return run_attended_task(member, task);
  run_body(member, task);
  if (task.event == nullptr) [[likely]]
    return complete(member, task);
  end_detached(member, task);
}

Task& allocate_task(Member& member, const TaskRequest& request) { return make_task(member, request); }

Task& allocate_usual_task(Member& member, void (*function)(void*), std::size_t size, bool is_final, bool tied) {
  return make_task(member, TaskRequest{.function = function,
                                       .data = nullptr,
                                       .copy = nullptr,
                                       .size = size,
                                       .alignment = usual_alignment,
                                       .final_ = is_final,
                                       .tied = tied});
}

Task& allocate_beside(const Task& task, const TaskRequest& request) {
  return make_by(request, [&] {
    return Task{.icv = task.icv,
                .parent = task.parent,
                .group = task.group,
                .function = request.function,
                .depth = task.depth,
                .explicit_ = true,
                .final_ = task.final_,
                .tied = task.tied};
  });
}

void submit_for_tasks(Member& member, Task& task, std::uint32_t count) {
  be_ready_to_make_tasks(member);
  count_created(member, task, count);
  enqueue(member, task);
}

// In the order of complete(). What stays owed keeps all of it from being the last.
void pay_for_tasks(Member& member, std::uint32_t count) {
  if (count == 0) return;
  Task& task = *member.task;
  TaskPool& pool = member.team->tasks;
  if (task.group != nullptr) task.group->count.drop(pool, 0, count);
  tell(pool, &member, *task.parent, count * (Family::child + Family::descriptor));
  count_completed(member, count);
}

void set_priority(Task& task, int priority) { task.priority = allowed_priority(priority); }

void attach_event(Task& task, Event* event) {
  task.event = event;
  event->task.store(&task, std::memory_order_release);
}

void discard_task(Task& task) { free_task(task); }

void begin_undeferred_task(Member& member, Task& task) {
  Team& team = *member.team;
  if (task.event == nullptr) {
    count_task();
  } else {
    if (!team.tasks.used.load(std::memory_order_acquire)) open_pool(team);
    count_created(member, task);
  }
  task.room_ends = member.task->room_ends;
  member.task = &task;
  task.runner.store(&member, std::memory_order_relaxed);
}

void begin_watched_undeferred_task(Member& member, Task& task, std::size_t data_size) {
  ompt::task_is_created(member, task, data_size, nullptr, false, false);
  ompt::task_begins(member, task);
  begin_undeferred_task(member, task);
}

namespace {

// The same of one that nobody else knows of. (Bug: in a final task of GCC's code its creator went on here, and with him
// the frame in which its parent lies.)
inline bool end_begun(Member& member, Task& task) {
  if (task.event != nullptr) [[unlikely]]
    return end_undeferred_detached(member, task);
  end_at_once(member, task);
  return true;
}

[[gnu::noinline]] void end_watched_begun(Member& member, Task& task) {
  ompt::Record* record = ompt::record_of(task);
  if (record != nullptr) tell_end_of_body(member, task);
  if (end_begun(member, task) && record != nullptr) ompt::release(*record);
}

}  // namespace

void end_undeferred_task(Member& member, Task& task) {
  member.task = task.parent;
  if (ompt::watched) [[unlikely]]
    return end_watched_begun(member, task);
  end_begun(member, task);
}

void submit_task(Member& member, Task& task, const DependenceList* depend, bool deferrable) {
  submit(member, task, depend, deferrable);
}

namespace {

[[gnu::noinline]] void submit_deferred(Member& member, Task& task) { submit_counted(member, task, nullptr, true); }

}  // namespace

void submit_usual_task(Member& member, Task& task) {
  if (task.event == nullptr && has_plenty(member) && task.depth <= most_nested)
    run_at_once(member, task);
  else
    submit_deferred(member, task);
}

void submit_watched_task(Member& member, Task& task, std::size_t data_size, const DependenceList* depend,
                         bool deferrable) {
  deferrable = deferrable && !ompt::runs_at_once(member, task.event);
  ompt::task_is_created(member, task, data_size, depend, deferrable, false);
  submit_counted(member, task, depend, deferrable);
}

bool run_undeferred_task(Member& member, void (*function)(void*), void* data, bool is_final, bool tied) {
  const Task& parent = *member.task;
  if (settings.attends_tasks || parent.depth >= most_nested) [[unlikely]]
    return false;
  const TaskRequest request{.function = function,
                            .data = data,
                            .copy = nullptr,
                            .size = 0,
                            .alignment = usual_alignment,
                            .deferrable = false,
                            .final_ = is_final,
                            .tied = tied};
  run_here(member, request, nullptr, nullptr, !parent.final_);
  return true;
}

void create_task(Member& member, const TaskRequest& request, void (*prepare)(void*, void*), void* context) {
  if (settings.attends_tasks) [[unlikely]]
    place_attended(member, request, prepare, context);
  else
    place(member, request, prepare, context);
}

}  // namespace weft::openmp
