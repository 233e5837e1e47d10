// Explicit tasks as LLVM's compilers see them. A task of theirs is a structure of the program's own type that begins
// with LlvmTask; what the runtime needs to know besides stands in front of it, and the shared variables' addresses
// behind it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/dependence.h"
#include "faces/openmp/event.h"
#include "faces/openmp/member.h"
#include "faces/openmp/task.h"

namespace weft::openmp {

struct LlvmTask;
using TaskRoutine = std::int32_t (*)(Gtid, LlvmTask*);

struct LlvmTask {
  void* shared;
  TaskRoutine routine;
  std::int32_t part;  // of an untied task, to go on with
  union {
    std::int32_t unused;
    TaskRoutine destroy;  // the destructors of what the task has of its own
  };
  union {
    std::int32_t priority;
    TaskRoutine unused_routine;
  };
};
static_assert(sizeof(LlvmTask) == 40);

enum LlvmTaskFlag : std::int32_t {
  llvm_tied = 1,
  llvm_final = 1 << 1,
  llvm_has_destroy = 1 << 3,
  llvm_proxy = 1 << 4,
  llvm_has_priority = 1 << 5,
};

/// In front of the LlvmTask.
struct alignas(16) TaskPreamble {
  Task* task;
  std::size_t size;         // of the program's structure
  std::size_t shared_size;  // of what lies behind it
  std::int32_t flags;
  bool begun = false;
  bool goes_on = false;  // untied: its part has returned, and the next one is to be run
};

inline TaskPreamble& preamble_of(LlvmTask* task) { return reinterpret_cast<TaskPreamble*>(task)[-1]; }

LlvmTask* allocate_llvm_task(Member& member, std::int32_t flags, std::size_t size, std::size_t shared_size,
                             TaskRoutine routine);
/// The same task once more, not begun, with the same data.
LlvmTask* duplicate_llvm_task(Member& member, LlvmTask* task);
/// What a task is created with whose data is a copy of the task's, which is still the only one. For tasks without
/// destructors.
TaskRequest request_like(LlvmTask* task);
/// In such data, once it has been copied: the structure, put in order.
LlvmTask* llvm_task_in_copy(void* data);
/// A task that is not going to be submitted.
void delete_llvm_task(LlvmTask* task);
void submit_llvm_task(Member& member, LlvmTask* task, const DependenceList* depend, bool deferrable);

/// kmp_depend_info_t.
struct LlvmDependence {
  std::intptr_t address;
  std::size_t length;
  std::uint8_t flags;
};

}  // namespace weft::openmp
