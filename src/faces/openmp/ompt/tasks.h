// What a tool is told of explicit tasks: their creation, dependences, begin and end.
#pragma once

#include "faces/openmp/dependence.h"
#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/records.h"

namespace weft::openmp {
struct Event;
}

namespace weft::openmp::ompt {

/// A taskloop's chunk, for the task that the calling thread creates next; and the begin and end of the taskloop.
void next_task_is_chunk(Member& member, std::uint64_t start, std::uint64_t iterations);
void taskloop_changes(Member& member, Endpoint endpoint, std::uint64_t trips);

/// Whether a task that the member creates is run then and there: within a final one, and by a lone member, unless it
/// has come upon one that may end later (with an event), which others may wait for.
bool runs_at_once(const Member& member, const openmp::Event* event);

/// The task is about to be submitted.
void task_is_created(Member& member, Task& task, std::size_t data_size, const DependenceList* depend, bool deferrable,
                     bool is_taskwait);

/// The member goes over to the task, and comes back from it (or from part of it: `status`).
void task_begins(Member& member, Task& task);
void task_ends(Member& member, Task& task, TaskStatus status);

/// How a task whose body has been run ends: completely, unless it was cancelled meanwhile.
TaskStatus end_of(const Member& member, const Task& task);

/// The task's body has ended, and its detach clause's event not been fulfilled.
bool body_ends_before_fulfilment(Task& task);
void event_is_fulfilled(openmp::Event& event);

/// The task is cancelled before it has begun.
void task_is_discarded(Member& member, Task& task);

/// Calls the body from a frame that the tool is told of.
void call_task_body(void* task);

/// The task's record, to be released.
Record* hold(const Task& task);

/// One task comes before another.
void task_comes_before(Record* first, Record* second);

}  // namespace weft::openmp::ompt
