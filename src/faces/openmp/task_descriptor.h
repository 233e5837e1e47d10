// Descriptors of explicit tasks: how they are made and freed, and how those that lie on a stack leave it.
//
// One that lies on its creator's stack (Task::on_stack) serves a task that the creator runs as a call. When a child of
// that is to have a descriptor of its own, which may outlive the call, those on the stack that it comes below move to
// memory of their own (leave_stack).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/layout.h"
#include "faces/openmp/blocks.h"
#include "faces/openmp/member.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/spare_task.h"
#include "faces/openmp/task.h"

namespace weft::openmp {

/// The priority that a task gets where the program names this one.
inline int allowed_priority(int priority) {
  if (priority <= 0) return 0;
  return priority < settings.max_task_priority ? priority : settings.max_task_priority;
}

inline Task child_of(Task& parent, const TaskRequest& request) {
  return Task{.icv = parent.icv,
              .parent = &parent,
              .group = parent.group,
              .function = request.function,
              .priority = allowed_priority(request.priority),
              .depth = parent.depth + 1,
              .explicit_ = true,
              .final_ = (request.final_ | parent.final_) != 0,
              .tied = request.tied};
}

inline constexpr std::size_t usual_alignment = alignof(std::max_align_t);

/// Memory for a descriptor and its data where blocks are not aligned enough.
void* aligned_task_memory(std::size_t size, std::size_t alignment);

/// The descriptor that `init` returns, with request.size bytes behind it, which are not initialised.
template <class Init>
[[gnu::always_inline]] inline Task& make_by(const TaskRequest& request, Init init) {
  std::size_t offset = task_data_offset;
  void* memory = nullptr;
  std::size_t size = 0;
  if (request.alignment <= usual_alignment) [[likely]] {
    size = offset + request.size;
    memory = take_block(size);
  } else {
    offset = base::round_up(sizeof(Task), request.alignment);
    memory = aligned_task_memory(offset + request.size, request.alignment);
  }
  Task& task = *new (memory) Task(init());
  task.size = size <= BlockCache::largest ? static_cast<std::uint32_t>(size) : 0;
  task.data = static_cast<char*>(memory) + offset;
  if (request.event != nullptr) [[unlikely]]
    attach_event(task, request.event);
  return task;
}

/// The task in hand, which lies on the stack, and those around it that do, get descriptors of their own.
void leave_stack(Member& member);

/// That of a child of the task in hand.
[[gnu::always_inline]] inline Task& make_task(Member& member, const TaskRequest& request) {
  if (member.task->on_stack) [[unlikely]]
    leave_stack(member);
  if (request.alignment <= usual_alignment && request.event == nullptr) [[likely]] {
    Task* spare = take_spare_task(member, request.function, request.size, request.final_, request.tied);
    if (spare != nullptr) {
      spare->priority = allowed_priority(request.priority);
      return *spare;
    }
  }
  return make_by(request, [&] { return child_of(*member.task, request); });
}

inline void free_task(Task& task) {
  if (task.size != 0) [[likely]]
    give_block(&task, task.size);
  else
    std::free(&task);
}

}  // namespace weft::openmp
