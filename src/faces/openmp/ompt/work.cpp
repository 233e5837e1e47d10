#include "faces/openmp/ompt/work.h"

#include "faces/openmp/loop.h"
#include "faces/openmp/ompt/tool.h"
#include "faces/openmp/single.h"
#include "faces/openmp/team.h"

namespace weft::openmp::ompt {
namespace {

WorkKind kind_of(const Loop& loop) {
  if (loop.is_sections) return WorkKind::sections;
  switch (loop.schedule) {
    case Schedule::dynamic:
      return WorkKind::loop_dynamic;
    case Schedule::guided:
      return WorkKind::loop_guided;
    default:
      break;
  }
  return WorkKind::loop_static;
}

void tell_work(const Here& here, WorkKind kind, Endpoint endpoint, std::uint64_t count, Code code) {
  work(kind, endpoint, here.parallel_data(), here.task_data(), count, code);
}

void begin_work(const Here& here, WorkKind kind, std::uint64_t count, Code code) {
  end_of_single(here.implicit);
  here.implicit.loop_kind = kind;
  here.implicit.loop_code = code;
  here.implicit.loop_count = count;
  tell_work(here, kind, Endpoint::begin, count, code);
}

void end_work(const Here& here, Code code) {
  const WorkKind kind = here.implicit.loop_kind;
  if (kind == WorkKind::none) return;
  here.implicit.loop_kind = WorkKind::none;
  tell_work(here, kind, Endpoint::end, kind == WorkKind::sections ? 0 : here.implicit.loop_count, code);
}

void tell_chunk(const Here& here, DispatchKind kind, const void* instance) {
  Data data;
  data.pointer = const_cast<void*>(instance);
  dispatch(here.parallel_data(), here.task_data(), kind, data);
}

}  // namespace

void remember_caller(Caller caller) {
  const Here here;
  here.implicit.loop_code = caller.code;
}

void loop_begins(Member& member, const Loop& loop) {
  const Here here(member);
  begin_work(here, kind_of(loop), loop.is_sections ? loop.section_count : member.loop.shared->trips,
             here.implicit.loop_code);
}

void combined_loop_begins(Team& team, const Loop& loop) {
  team.watched->combined = kind_of(loop);
  combined_loop_begins(team.master);
}

void combined_loop_begins(Member& member) {
  const Here here(member);
  if (here.region.combined == WorkKind::none) return;
  member.loop.attended = true;
  begin_work(here, here.region.combined, member.loop.shared->trips, here.region.code);
}

void loop_ends(Member& member) {
  const Here here(member);
  end_work(here, here.implicit.loop_code);
}

void chunk_is_taken(Member& member, std::uint64_t first, std::uint64_t count) {
  const Here here(member);
  if (here.implicit.loop_kind == WorkKind::sections)
    return tell_chunk(here, DispatchKind::section, here.implicit.loop_code);
  const Workshare& shared = *member.loop.shared;
  const DispatchChunk chunk{shared.start + first * shared.step, count};
  tell_chunk(here, DispatchKind::loop_chunk, &chunk);
}

void static_loop_begins(Caller caller, WorkKind kind, std::uint64_t trips, DispatchChunk chunk) {
  const Here here;
  begin_work(here, kind, trips, caller.code);
  if (chunk.iterations == 0) return;
  if (kind == WorkKind::sections) return tell_chunk(here, DispatchKind::section, caller.code);
  tell_chunk(here, kind == WorkKind::distribute ? DispatchKind::distribute_chunk : DispatchKind::loop_chunk, &chunk);
}

void static_loop_ends(Caller caller) { end_work(Here{}, caller.code); }

bool watched_single(Caller caller, bool ends) {
  const Here here;
  end_of_single(here.implicit);
  if (!first_at_single(here.member)) {
    tell_work(here, WorkKind::single_other, Endpoint::begin, 1, caller.code);
    tell_work(here, WorkKind::single_other, Endpoint::end, 1, caller.code);
    return false;
  }
  tell_work(here, WorkKind::single_executor, Endpoint::begin, 1, caller.code);
  here.implicit.single_is_open = !ends;
  return true;
}

void single_ends(Caller caller) { tell_work(Here{}, WorkKind::single_executor, Endpoint::end, 1, caller.code); }

void end_of_single(ImplicitRecord& task) {
  if (!task.single_is_open) return;
  task.single_is_open = false;
  work(WorkKind::single_executor, Endpoint::end, &task.region->data, &task.data, 1, nullptr);
}

void scope_changes(Caller caller, Endpoint endpoint) { tell_work(Here{}, WorkKind::scope, endpoint, 1, caller.code); }

void masked_changes(Caller caller, Endpoint endpoint) {
  const Here here;
  masked(endpoint, here.parallel_data(), here.task_data(), caller.code);
}

void reduction_changes(Caller caller, Endpoint endpoint) {
  const Here here;
  here.thread.state.store(endpoint == Endpoint::begin ? state_work_reduction : state_work_parallel,
                          std::memory_order_relaxed);
  reduction(SyncKind::reduction, endpoint, here.parallel_data(), here.task_data(), caller.code);
}

void tell_flush(Caller caller) {
  const Here here;
  flush(&here.thread.data, caller.code);
}

void tell_error(Caller caller, Severity severity, const char* message, std::size_t length) {
  const Call call(caller);
  error(severity, message, length, caller.code);
}

bool watched_cancel(Caller caller, Cancellable region, int kind) {
  const Call call(caller);
  const bool done = openmp::cancel(call.here.member, region);
  if (done) ompt::cancel(call.here.task_data(), kind | cancel_activated, caller.code);
  return done;
}

bool watched_cancellation_point(Caller caller, Cancellable region, int kind) {
  const Call call(caller);
  const bool cancelled = cancellation_point(call.here.member, region);
  if (cancelled) ompt::cancel(call.here.task_data(), kind | cancel_detected, caller.code);
  return cancelled;
}

int control_tool(Caller caller, std::uint64_t command, std::uint64_t modifier, void* argument) {
  constexpr int no_tool = -2, no_callback = -1;
  if (!watched) return no_tool;
  const Call call(caller);
  if (!tool_is_active()) return no_tool;
  using ControlTool = int (*)(std::uint64_t, std::uint64_t, void*, Code);
  const auto callback = reinterpret_cast<ControlTool>(callbacks[control_tool_number].load(std::memory_order_acquire));
  if (callback == nullptr) return no_callback;
  const core::HeldOff held;
  return callback(command, modifier, argument, caller.code);
}

void tell_doacross(DependenceKind kind, const std::uint64_t* place, unsigned count) {
  if (!dependences) return;
  auto list = static_cast<Dependence*>(__builtin_alloca(count * sizeof(Dependence)));
  for (unsigned index = 0; index < count; ++index) {
    list[index].variable.value = place[index];
    list[index].kind = kind;
  }
  dependences(Here{}.task_data(), list, static_cast<int>(count));
}

}  // namespace weft::openmp::ompt
