// The types and numbers of OMPT, the interface for tools of OpenMP 5.1 (chapter 4), as compiled tools know them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::openmp::ompt {

/// What a tool keeps with a thread, a parallel region or a task.
union Data {
  std::uint64_t value = 0;
  void* pointer;
};

/// Where a task left the program for the runtime (enter), and came back from it (exit).
struct Frame {
  Data exit;
  Data enter;
  int exit_flags;
  int enter_flags;
};

enum FrameFlag : int { frame_of_runtime = 0x00, frame_of_program = 0x01, frame_is_cfa = 0x10 };

using Function = void (*)();
using Lookup = Function (*)(const char* name);

struct StartToolResult {
  int (*initialize)(Lookup lookup, int initial_device, Data* tool_data);
  void (*finalize)(Data* tool_data);
  Data tool_data;
};

enum class SetResult : int { error = 0, never = 1, impossible = 2, sometimes = 3, sometimes_paired = 4, always = 5 };

enum class ThreadKind : int { initial = 1, worker = 2, other = 3 };
enum class Endpoint : int { begin = 1, end = 2, beginend = 3 };
enum class DispatchKind : int { iteration = 1, section = 2, loop_chunk = 3, taskloop_chunk = 4, distribute_chunk = 5 };

enum class SyncKind : int {
  barrier_explicit = 3,
  barrier_implementation = 4,
  taskwait = 5,
  taskgroup = 6,
  reduction = 7,
  barrier_implicit_workshare = 8,
  barrier_implicit_parallel = 9,
  barrier_teams = 10,
};

enum class WorkKind : int {
  none = 0,
  loop = 1,
  sections = 2,
  single_executor = 3,
  single_other = 4,
  workshare = 5,
  distribute = 6,
  taskloop = 7,
  scope = 8,
  loop_static = 10,
  loop_dynamic = 11,
  loop_guided = 12,
  loop_other = 13,
};

enum class MutexKind : int {
  lock = 1,
  test_lock = 2,
  nest_lock = 3,
  test_nest_lock = 4,
  critical = 5,
  atomic = 6,
  ordered = 7,
};

/// kmp_mutex_impl_t: who waits for one of weft's waits in a queue. The other is what LLVM's tools know besides.
inline constexpr unsigned mutex_impl_spin = 1;
inline constexpr unsigned mutex_impl_queuing = 2;

enum TaskFlag : int {
  task_initial = 0x1,
  task_implicit = 0x2,
  task_explicit = 0x4,
  task_target = 0x8,
  task_taskwait = 0x10,
  task_undeferred = 0x08000000,
  task_untied = 0x10000000,
  task_final = 0x20000000,
  task_mergeable = 0x40000000,
};

enum class TaskStatus : int {
  complete = 1,
  yield = 2,
  cancel = 3,
  detach = 4,
  early_fulfill = 5,
  late_fulfill = 6,
  switched = 7,
  taskwait_complete = 8,
};

enum ParallelFlag : unsigned {
  invoked_by_program = 0x1,
  invoked_by_runtime = 0x2,
  parallel_league = 0x40000000,
  parallel_team = 0x80000000,
};

enum class DependenceKind : int {
  in = 1,
  out = 2,
  inout = 3,
  mutexinoutset = 4,
  source = 5,
  sink = 6,
  inoutset = 7,
  out_all_memory = 34,
};

struct Dependence {
  Data variable;
  DependenceKind kind;
};

struct DispatchChunk {
  std::uint64_t start;
  std::uint64_t iterations;
};

enum CancelFlag : int {
  cancel_parallel = 0x01,
  cancel_sections = 0x02,
  cancel_loop = 0x04,
  cancel_taskgroup = 0x08,
  cancel_activated = 0x10,
  cancel_detected = 0x20,
  cancel_discarded_task = 0x40,
};

enum class Severity : int { warning = 1, fatal = 2 };

enum State : int {
  state_work_serial = 0x000,
  state_work_parallel = 0x001,
  state_work_reduction = 0x002,
  state_wait_barrier_implicit_parallel = 0x011,
  state_wait_barrier_implicit_workshare = 0x012,
  state_wait_barrier_explicit = 0x014,
  state_wait_barrier_implementation = 0x015,
  state_wait_barrier_teams = 0x016,
  state_wait_taskwait = 0x020,
  state_wait_taskgroup = 0x021,
  state_wait_mutex = 0x040,
  state_wait_lock = 0x041,
  state_wait_critical = 0x042,
  state_wait_atomic = 0x043,
  state_wait_ordered = 0x044,
  state_wait_target = 0x080,
  state_wait_target_map = 0x081,
  state_wait_target_update = 0x082,
  state_idle = 0x100,
  state_overhead = 0x101,
  state_undefined = 0x102,
};

}  // namespace weft::openmp::ompt
