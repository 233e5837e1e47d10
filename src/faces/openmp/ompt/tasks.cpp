#include "faces/openmp/ompt/tasks.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/event.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"

namespace weft::openmp::ompt {
namespace {

Record& make_record() {
  void* memory = std::malloc(sizeof(Record));
  if (memory == nullptr) base::panic("no memory for what a tool is told of a task");
  return *new (memory) Record;
}

DependenceKind kind_of(Access access) {
  switch (access) {
    case Access::reads:
      return DependenceKind::in;
    case Access::excludes:
      return DependenceKind::mutexinoutset;
    case Access::sets:
      return DependenceKind::inoutset;
    case Access::writes:
      break;
  }
  return DependenceKind::inout;
}

void tell_dependences(Record& task, const DependenceList& depend) {
  if (!dependences || depend.count == 0) return;
  auto list = static_cast<Dependence*>(std::malloc(depend.count * sizeof(Dependence)));
  if (list == nullptr) base::panic("no memory for what a tool is told of a task");
  for (std::size_t index = 0; index < depend.count; ++index) {
    const openmp::Dependence each = depend.get(depend.source, index);
    list[index].variable.pointer = const_cast<void*>(each.address);
    list[index].kind = each.of_all_memory() ? DependenceKind::out_all_memory : kind_of(each.access);
  }
  dependences(&task.data, list, static_cast<int>(depend.count));
  std::free(list);
}

}  // namespace

void release(Record& record) {
  if (record.users.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(&record);
}

bool runs_at_once(const Member& member, const openmp::Event* event) {
  if (member.task->final_) return true;
  if (member.team->size != 1) return false;
  Region* region = member.team->watched;
  if (region == nullptr) return event == nullptr;  // (Bug: the tool itself made a task while it was being started.)
  if (event != nullptr) region->defers = true;
  return !region->defers;
}

void next_task_is_chunk(Member& member, std::uint64_t start, std::uint64_t iterations) {
  const Here here(member);
  here.implicit.next_chunk = {start, iterations};
  here.implicit.next_is_chunk = true;
}

void taskloop_changes(Member& member, Endpoint endpoint, std::uint64_t trips) {
  const Here here(member);
  work(WorkKind::taskloop, endpoint, here.parallel_data(), here.task_data(), trips, here.thread.code);
}

void task_is_created(Member& member, Task& task, std::size_t data_size, const DependenceList* depend, bool deferrable,
                     bool is_taskwait) {
  const Here here(member);
  Record& record = make_record();
  task.notes.record = &record;
  record.region = &here.region;
  record.memory = task.data;
  record.memory_size = data_size;
  if (task.event != nullptr) task.event->record.store(hold(task), std::memory_order_release);
  if (here.implicit.next_is_chunk) {
    record.is_chunk = true;
    record.chunk = here.implicit.next_chunk;
    here.implicit.next_is_chunk = false;
  }
  if (is_taskwait)
    record.flags = task_taskwait | task_undeferred | task_mergeable;
  else
    record.flags = task_explicit | (deferrable ? 0 : task_undeferred) | (task.tied ? 0 : task_untied) |
                   (task.final_ ? task_final : 0);
  const bool depends = depend != nullptr && depend->count != 0;
  task_create(&here.task.data, &here.task.frame, &record.data, record.flags, depends ? 1 : 0, here.thread.code);
  if (depends) tell_dependences(record, *depend);
}

void task_begins(Member& member, Task& task) {
  const Here here(member);
  Record& record = *task.notes.record;
  if ((record.flags & task_taskwait) != 0) return;
  record.implicit = &here.implicit;
  record.below = &here.task;
  record.state_before = here.thread.state.exchange(state_work_parallel, std::memory_order_relaxed);
  const TaskStatus status = here.implicit.yields ? TaskStatus::yield : TaskStatus::switched;
  here.implicit.yields = false;
  task_schedule(&here.task.data, status, &record.data);
  if (!record.is_chunk) return;
  Data instance;
  instance.pointer = &record.chunk;
  dispatch(here.parallel_data(), &record.data, DispatchKind::taskloop_chunk, instance);
}

void task_ends(Member& member, Task& task, TaskStatus status) {
  Record& record = *task.notes.record;
  if (record.state_before != state_undefined)
    Here(member).thread.state.store(record.state_before, std::memory_order_relaxed);
  if ((record.flags & task_taskwait) != 0)
    task_schedule(&record.data, TaskStatus::taskwait_complete, nullptr);
  else
    task_schedule(&record.data, status, &record.below->data);
}

TaskStatus end_of(const Member& member, const Task& task) {
  return settings.cancellation && is_cancelled(*member.team, task) ? TaskStatus::cancel : TaskStatus::complete;
}

// Whoever comes second finds what the first left. The record outlives both: the event holds it, and is there until both
// its task's end and its fulfilment have been counted, which they have not been yet.
bool body_ends_before_fulfilment(Task& task) {
  return task.notes.record->detached.exchange(Detached::body_ended, std::memory_order_acq_rel) == Detached::nothing;
}

void event_is_fulfilled(openmp::Event& event) {
  Record* record = event.record.load(std::memory_order_acquire);
  if (record == nullptr) return;
  const Detached before = record->detached.exchange(Detached::fulfilled, std::memory_order_acq_rel);
  if (before == Detached::discarded) return;
  const bool late = before == Detached::body_ended;
  task_schedule(&record->data, late ? TaskStatus::late_fulfill : TaskStatus::early_fulfill, nullptr);
}

void task_is_discarded(Member& member, Task& task) {
  const Here here(member);
  Record& record = *task.notes.record;
  record.detached.store(Detached::discarded, std::memory_order_release);
  record.below = &here.task;
  const bool by_group = !member.team->cancelled.load(std::memory_order_acquire);
  ompt::cancel(&record.data, (by_group ? cancel_taskgroup : cancel_parallel) | cancel_discarded_task, nullptr);
  task_ends(member, task, TaskStatus::cancel);
}

[[gnu::noinline]] void call_task_body(void* argument) {
  auto task = static_cast<Task*>(argument);
  Record& record = *task->notes.record;
  set_exit_frame(record, __builtin_frame_address(0));
  task->function(task->data);
  set_exit_frame(record, nullptr);
}

Record* hold(const Task& task) {
  task.notes.record->users.fetch_add(1, std::memory_order_relaxed);
  return task.notes.record;
}

void task_comes_before(Record* first, Record* second) {
  if (first != nullptr && second != nullptr) task_dependence(&first->data, &second->data);
}

}  // namespace weft::openmp::ompt
