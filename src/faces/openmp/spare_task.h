// Where tasks are run as they are created, and have descriptors of their own (LLVM's compilers fill in the data between
// two calls), a few blocks serve them all: a member keeps those of the tasks that it has ended, the last one first, and
// the descriptors in them as they are. Of these only what differs from task to task, or may have changed, is set anew.
// There are no more of them than tasks have been run one inside of the other, but for those of different sizes.
#pragma once

#include <cstddef>
#include <cstring>

#include "base/layout.h"
#include "faces/openmp/member.h"
#include "faces/openmp/task_pool.h"

namespace weft::openmp {

/// Where the data begins that lies behind a descriptor.
inline constexpr std::size_t task_data_offset = base::round_up(sizeof(Task), alignof(std::max_align_t));

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

/// The task, which nobody refers to any more, is a spare one. False: it is to be freed. Only for one that has had no
/// dependences and no event.
inline bool keep_as_spare(const Member& member, Task& task) {
  TaskSeat* seat = member.seat;
  if (seat == nullptr || !seat->keeps_spare || task.size == 0) return false;
  task.listing.next = seat->spare;
  seat->spare = &task;
  return true;
}

}  // namespace weft::openmp
