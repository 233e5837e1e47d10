#include "faces/openmp/task_descriptor.h"

#include <atomic>

#include "base/panic.h"

namespace weft::openmp {

[[gnu::noinline]] void* aligned_task_memory(std::size_t size, std::size_t alignment) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, size) != 0) base::panic("no memory for a task of %zu bytes", size);
  return memory;
}

namespace {

// A copy of a task on the stack, which goes on as that. Nobody else knows of it yet.
Task* move_off_stack(Task& task) {
  void* memory = take_block(sizeof(Task));
  task.moved_to = new (memory) Task{.icv = task.icv,
                                    .parent = task.parent,
                                    .group = task.group,
                                    .key = task.key,
                                    .runner = task.runner.load(std::memory_order_relaxed),
                                    .priority = task.priority,
                                    .depth = task.depth,
                                    .size = sizeof(Task),
                                    .explicit_ = true,
                                    .final_ = task.final_,
                                    .tied = task.tied,
                                    .room_ends = task.room_ends};
  return task.moved_to;
}

}  // namespace

// Ancestors of one that has its own have theirs; one whose descriptor cannot move has no children that would ask for
// this.
void leave_stack(Member& member) {
  member.task = move_off_stack(*member.task);
  for (Task* task = member.task;; task = task->parent) {
    const bool moves = task->parent->on_stack;
    if (moves) task->parent = move_off_stack(*task->parent);
    task->parent->family.add_descriptor();
    if (!moves) return;
  }
}

}  // namespace weft::openmp
