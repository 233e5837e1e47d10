// A task's body is run as a call: on the stack of who runs it, or on another one where that runs short, as when many
// tasks wait one inside of the other.
//
// How much is left is not looked at for each task: who has looked writes down the address below which it is too little
// (Task::room_ends), and the tasks that are run on top of it have it from there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/cpu.h"
#include "core/segment.h"
#include "faces/openmp/member.h"
#include "faces/openmp/task.h"

namespace weft::openmp {

inline void call_task(void* argument) {
  auto task = static_cast<Task*>(argument);
  task->function(task->data);
}

/// Task::room_ends for who runs here.
inline std::uintptr_t room_here() {
  const std::size_t left = core::stack_left();
  if (left == 0) return Task::on_roots_stack;
  return reinterpret_cast<std::uintptr_t>(arch::stack_pointer()) - left + core::runtime.config.stack_size / 2;
}

/// Whether a task goes on on another stack, since this one runs short. On a root's own that is each that is found in a
/// wait; of those that are run at once one inside of the other, which are few (most_nested), it is enough if some do.
[[gnu::always_inline]] inline bool wants_another_stack(std::uintptr_t room_ends, const Task& task, bool at_once) {
  if (reinterpret_cast<std::uintptr_t>(arch::stack_pointer()) < room_ends) return true;
  return room_ends == Task::on_roots_stack && (!at_once || task.depth % 16 == 0);
}

/// The task that the member is in while this one's body runs: it has moved if the program's copies of its data have
/// made tasks of their own. What is to be run stands in the first one.
inline Task& as_it_is_now(Task& task) { return task.moved_to != nullptr ? *task.moved_to : task; }

/// The member is in the task again that it was in before. That may have moved meanwhile.
inline void go_back_to(Member& member, Task* before) { member.task = &as_it_is_now(*before); }

template <void (*call)(void*)>
void call_on_another_stack(void* task) {
  as_it_is_now(*static_cast<Task*>(task)).room_ends = room_here();
  call(task);
}

template <void (*call)(void*)>
[[gnu::noinline]] void call_after_a_look(Task& around, Task& task, bool at_once) {
  if (around.room_ends == Task::room_unknown) {
    const std::uintptr_t room_ends = room_here();
    around.room_ends = as_it_is_now(task).room_ends = room_ends;
    if (!wants_another_stack(room_ends, task, at_once)) return call(&task);
  }
  core::call_on_segment(core::runtime.config.stack_size, call_on_another_stack<call>, &task);
}

/// Calls it with the task; the member is in the task then, and stays there. `at_once`: by who has created it.
template <void (*call)(void*)>
inline void call_body(Member& member, Task& task, bool at_once, bool may_look = true) {
  Task& around = *member.task;
  const std::uintptr_t room_ends = around.room_ends;
  Task& now = as_it_is_now(task);
  member.task = &now;
  now.runner.store(&member, std::memory_order_relaxed);
  if (may_look && wants_another_stack(room_ends, task, at_once)) [[unlikely]] {
    call_after_a_look<call>(around, task, at_once);
  } else {
    now.room_ends = room_ends;
    call(&task);
  }
}

/// The same; the member goes back to where it was.
template <void (*call)(void*) = call_task>
inline void run_body(Member& member, Task& task, bool at_once = false, bool may_look = true) {
  Task* before = member.task;
  call_body<call>(member, task, at_once, may_look);
  go_back_to(member, before);
}

}  // namespace weft::openmp
