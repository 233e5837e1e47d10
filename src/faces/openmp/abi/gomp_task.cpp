// GCC's entry points for tasks, taskgroup and taskloop.
#include <cstddef>
#include <cstdint>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_depend.h"
#include "faces/openmp/abi/gomp_reduction.h"
#include "faces/openmp/event.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/tasks.h"
#include "faces/openmp/task.h"
#include "faces/openmp/taskloop.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

enum GccTaskFlag : unsigned {
  flag_untied = 1U << 0U,
  flag_final = 1U << 1U,
  flag_depend = 1U << 3U,
  flag_priority = 1U << 4U,
  flag_up = 1U << 8U,
  flag_grainsize = 1U << 9U,
  flag_if = 1U << 10U,
  flag_nogroup = 1U << 11U,
  flag_reduction = 1U << 12U,
  flag_detach = 1U << 13U,
  flag_strict = 1U << 14U,
};

// The end of the last one may lie behind the loop's, as in libgomp: the compiler's code stops there even where the type
// has no such value, and it wraps.
template <class T>
struct TaskBounds {
  T start, end;
  TaskBounds(const TaskLoop& loop, std::uint64_t first, std::uint64_t last)
      : start(static_cast<T>(loop.begin + first * loop.step)), end(static_cast<T>(loop.begin + last * loop.step)) {}
};

// The first two words of a taskloop task's data are its bounds; if it has a reduction clause of its own, the third is
// the description of that.
template <class T>
void set_bounds(void* data, void* context) {
  auto bounds = static_cast<const TaskBounds<T>*>(context);
  static_cast<T*>(data)[0] = bounds->start;
  static_cast<T*>(data)[1] = bounds->end;
}

template <class T>
void set_bounds_of_chunk(const TaskLoop& loop, void* data, std::uint64_t first, std::uint64_t last) {
  TaskBounds<T> bounds(loop, first, last);
  set_bounds<T>(data, &bounds);
}

template <class T>
void create_one_by_one(Member& member, const TaskLoop& loop, const TaskRequest& request) {
  for (std::uint64_t task = 0; task < loop.dealt.tasks; ++task) {
    const std::uint64_t first = loop.dealt.first_of(task), last = loop.end_of(task);
    TaskBounds<T> bounds(loop, first, last);
    if (ompt::watched) [[unlikely]]
      ompt::next_task_is_chunk(member, loop.begin + first * loop.step, last - first);
    create_task(member, request, set_bounds<T>, &bounds);
  }
}

template <class T>
void create_taskloop(TaskRequest request, unsigned flags, unsigned long number, T start, T end, T step, bool up) {
  const auto begin = static_cast<std::uint64_t>(start);
  const auto distance = up ? static_cast<std::uint64_t>(end) - begin : begin - static_cast<std::uint64_t>(end);
  const auto stride = up ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  Member& member = this_member();
  const bool grouped = (flags & flag_nogroup) == 0;
  const bool reduces = grouped && (flags & flag_reduction) != 0;
  const auto reductions = reduces ? reinterpret_cast<std::uintptr_t*>(static_cast<T*>(request.data)[2]) : nullptr;
  if (up ? start >= end : start <= end) {
    if (reduces) register_reductions_without_tasks(member, reductions);
    return;
  }
  const std::uint64_t trips = (distance - 1) / stride + 1;
  const bool strict = (flags & flag_strict) != 0;
  const Deal dealt = deal(trips, number, (flags & flag_grainsize) != 0, strict, member.team->size);
  request.deferrable = (flags & flag_if) != 0;
  if (grouped) ompt::open_group(member);
  if (reduces) register_reductions(member, reductions);
  if (ompt::watched) ompt::taskloop_changes(member, ompt::Endpoint::begin, trips);
  const TaskLoop loop{dealt, trips, begin, static_cast<std::uint64_t>(step), set_bounds_of_chunk<T>};
  if (!create_in_ranges(member, loop, request)) create_one_by_one<T>(member, loop, request);
  if (ompt::watched) ompt::taskloop_changes(member, ompt::Endpoint::end, trips);
  if (grouped) ompt::close_group(member);
}

TaskRequest request_for(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
                        unsigned flags, int priority) {
  TaskRequest request{function, data, copy, static_cast<std::size_t>(size), static_cast<std::size_t>(alignment)};
  request.final_ = (flags & flag_final) != 0;
  request.tied = (flags & flag_untied) == 0;
  if ((flags & flag_priority) != 0) request.priority = priority > 0 ? priority : 0;
  return request;
}

[[gnu::noinline]] void create_with_clauses(TaskRequest& request, unsigned flags, void** depend, void* detach) {
  const DependenceList list = (flags & flag_depend) != 0 ? list_of(depend) : DependenceList{};
  if ((flags & flag_depend) != 0) request.depend = &list;
  Member& member = this_member();
  if ((flags & flag_detach) != 0) {
    // The handle goes into the program's variable, and into its copy, with which the data begins.
    request.event = make_event(member);
    request.event->creator_waits = true;
    *static_cast<Event**>(detach) = request.event;
    if (request.data != nullptr) *static_cast<Event**>(request.data) = request.event;
  }
  create_task(member, request);
}

[[gnu::noinline, gnu::cold]] void create_watched(ompt::Caller caller, TaskRequest& request, unsigned flags,
                                                 void** depend, void* detach) {
  const ompt::Call call(caller);
  create_with_clauses(request, flags, depend, detach);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
                           bool deferrable, unsigned flags, void** depend, int priority, void* detach) {
  if (!deferrable && copy == nullptr && (flags & (flag_depend | flag_detach)) == 0 &&
      run_undeferred_task(this_member(), function, data, (flags & flag_final) != 0, (flags & flag_untied) == 0))
    return;
  TaskRequest request = request_for(function, data, copy, size, alignment, flags, priority);
  request.deferrable = deferrable;
  if (ompt::watched) [[unlikely]]
    return create_watched(WEFT_CALLER, request, flags, depend, detach);
  if ((flags & (flag_depend | flag_detach)) != 0)
    create_with_clauses(request, flags, depend, detach);
  else
    create_task(this_member(), request);
}

WEFT_EXPORT void GOMP_taskloop(void (*function)(void*), void* data, void (*copy)(void*, void*), long size,
                               long alignment, unsigned flags, unsigned long number, int priority, long start, long end,
                               long step) {
  const bool up = step > 0;
  ompt::from_program(WEFT_CALLER, [&] {
    create_taskloop<long>(request_for(function, data, copy, size, alignment, flags, priority), flags, number, start,
                          end, step, up);
  });
}

WEFT_EXPORT void GOMP_taskloop_ull(void (*function)(void*), void* data, void (*copy)(void*, void*), long size,
                                   long alignment, unsigned flags, unsigned long number, int priority,
                                   unsigned long long start, unsigned long long end, unsigned long long step) {
  const bool up = (flags & flag_up) != 0;
  ompt::from_program(WEFT_CALLER, [&] {
    create_taskloop<unsigned long long>(request_for(function, data, copy, size, alignment, flags, priority), flags,
                                        number, start, end, step, up);
  });
}

WEFT_EXPORT void GOMP_taskwait() {
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::taskwait, wait_for_children);
  wait_for_children(this_member());
}
WEFT_EXPORT void GOMP_taskwait_depend(void** depend) {
  ompt::from_program(WEFT_CALLER, [&] { wait_for_dependences(this_member(), list_of(depend)); });
}
WEFT_EXPORT void GOMP_taskwait_depend_nowait(void** depend) {
  ompt::from_program(WEFT_CALLER, [&] { wait_for_dependences(this_member(), list_of(depend), false); });
}
WEFT_EXPORT void GOMP_taskyield() {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_yield(WEFT_CALLER);
  yield_task(this_member());
}
WEFT_EXPORT void GOMP_taskgroup_start() {
  if (ompt::watched) [[unlikely]]
    return ompt::begin_watched_taskgroup(WEFT_CALLER);
  begin_taskgroup(this_member());
}
WEFT_EXPORT void GOMP_taskgroup_end() {
  if (ompt::watched) [[unlikely]]
    return ompt::end_watched_taskgroup(WEFT_CALLER, end_taskgroup);
  end_taskgroup(this_member());
}

WEFT_EXPORT void omp_fulfill_event(Event* event) { fulfil_event(event); }
WEFT_EXPORT void omp_fulfill_event_(Event* event) { fulfil_event(event); }  // by value in Fortran too
WEFT_ALSO_LLVM(omp_fulfill_event);
WEFT_ALSO_LLVM(omp_fulfill_event_);
