#include "faces/openmp/event.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "faces/openmp/ompt/tasks.h"
#include "faces/openmp/region_end.h"
#include "faces/openmp/task_wait.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

void free_event(Event* event) {
  if (ompt::Record* record = event->record.load(std::memory_order_relaxed); record != nullptr) ompt::release(*record);
  std::free(event);
}

}  // namespace

Event* make_event(Member& member) {
  void* memory = std::malloc(sizeof(Event));
  if (memory == nullptr) base::panic("no memory for an event");
  auto event = new (memory) Event;
  event->team = member.team;
  return event;
}

void fulfil_event(Event* event) {
  Member& self = this_member();  // a thread from outside enters weft here: it may have to resume somebody
  Team& team = *event->team;
  // The team of a task that has been discarded may be gone. (Bug: the task was discarded behind the look, and a thread
  // of the program that was the last to use its team ended.)
  const bool is_pending = event->task.load(std::memory_order_acquire) != nullptr &&
                          !event->decided.exchange(true, std::memory_order_acq_rel);
  const bool holds = is_pending && hold_open(team);
  if (ompt::watched) ompt::event_is_fulfilled(*event);
  if (event->left.drop(team.tasks, 1) == 0) {
    Task* task = event->task.load(std::memory_order_relaxed);
    free_event(event);
    if (task != nullptr) {
      if (self.team == &team)
        complete_task(self, *task);
      else
        complete_from_elsewhere(team, *task);
    }
  }
  if (holds) let_close(team);
}

bool end_body_of_detached(Member& member, Task& task) {
  Event* event = task.event;
  if (event->left.drop(member.team->tasks, 0) != 0) return false;
  free_event(event);
  return true;
}

void wait_for_event(Member& member, Task& task) {
  wait_for_counter(member, task.event->left, 1);
  free_event(task.event);
}

void forget_event(Member& member, Event& event) {
  event.task.store(nullptr, std::memory_order_release);
  if (event.left.drop(member.team->tasks, 0) == 0) free_event(&event);
}

}  // namespace weft::openmp
