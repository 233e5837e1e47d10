// Some blocks serve many of the tasks that have descriptors of their own: a member keeps those of the tasks that it
// has ended, the last one first, and the descriptors in them as they are. Of these only what differs from task to task,
// or may have changed, is set anew. What is more than that goes back to the worker's blocks (blocks.h), from where
// others that create tasks have it again.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/layout.h"
#include "faces/openmp/member.h"
#include "faces/openmp/task_pool.h"

namespace weft::openmp {

/// Where the data begins that lies behind a descriptor.
inline constexpr std::size_t task_data_offset = base::round_up(sizeof(Task), alignof(std::max_align_t));

/// That a member keeps; as many as a member of a small team lets wait (plenty_for).
inline constexpr unsigned most_spare_tasks = 256;

/// What allocate_usual_task() (task.h) would do. nullptr: there is no spare one, or none that is large enough.
[[gnu::always_inline]] inline Task* take_spare_task(Member& member, void (*function)(void*), std::size_t size,
                                                    bool is_final, bool tied) {
  TaskSeat* seat = member.seat;
  Task& parent = *member.task;
  if (seat == nullptr || seat->spare == nullptr || parent.on_stack) return nullptr;
  Task& task = *seat->spare;
  if (task_data_offset + size > task.size) return nullptr;
  seat->spare = task.listing.next;
  std::memcpy(&task.icv, &parent.icv, sizeof(Icv));  // as it is read again: in two halves that do not overlap
  task.parent = &parent;
  task.group = parent.group;
  task.function = function;
  task.runner.store(nullptr, std::memory_order_relaxed);
  task.family.start_anew();
  task.priority = 0;
  task.depth = parent.depth + 1;
  task.final_ = (is_final | parent.final_) != 0;
  task.tied = tied;
  task.must_run = false;
  return &task;
}

/// The task, which nobody refers to any more, is a spare one of the calling member's. False: it is to be freed. Only
/// for one that has had no dependences and no event.
inline bool keep_as_spare(const Member& member, Task& task) {
  TaskSeat* seat = member.seat;
  if (seat == nullptr || task.size == 0) return false;
  const std::uint64_t number = seat->spare != nullptr ? seat->spare->listing.number + 1 : 1;
  if (number > seat->most_spares) return false;
  task.listing.number = number;
  task.listing.next = seat->spare;
  seat->spare = &task;
  return true;
}

}  // namespace weft::openmp
