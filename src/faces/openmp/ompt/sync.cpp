#include "faces/openmp/ompt/sync.h"

#include "faces/openmp/task_wait.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp::ompt {

int state_of(SyncKind kind) {
  switch (kind) {
    case SyncKind::barrier_explicit:
      return state_wait_barrier_explicit;
    case SyncKind::barrier_implementation:
      return state_wait_barrier_implementation;
    case SyncKind::taskwait:
      return state_wait_taskwait;
    case SyncKind::taskgroup:
      return state_wait_taskgroup;
    case SyncKind::reduction:
      return state_work_reduction;
    case SyncKind::barrier_implicit_workshare:
      return state_wait_barrier_implicit_workshare;
    case SyncKind::barrier_implicit_parallel:
      return state_wait_barrier_implicit_parallel;
    case SyncKind::barrier_teams:
      return state_wait_barrier_teams;
  }
  return state_undefined;
}

// As the region may be over for the others when the wait ends, its data is not handed out any more.
void wait_at_end(Member& member, SyncKind kind, const void* code) {
  const Here here(member);
  sync_region(kind, Endpoint::begin, here.parallel_data(), here.task_data(), code);
  {
    const InState state(here.thread, state_of(kind));
    sync_region_wait(kind, Endpoint::begin, here.parallel_data(), here.task_data(), code);
    if (forked_inside(*member.team))
      run_what_is_here(member);
    else
      team_barrier(member);
    sync_region_wait(kind, Endpoint::end, nullptr, here.task_data(), code);
  }
  sync_region(kind, Endpoint::end, nullptr, here.task_data(), code);
}

void tell_group_begin(Member& member) {
  const Here here(member);
  sync_region(SyncKind::taskgroup, Endpoint::begin, here.parallel_data(), here.task_data(), here.thread.code);
}

void begin_watched_taskgroup(Caller caller) {
  const Call call(caller);
  open_group(call.here.member);
}

void watched_yield(Caller caller) {
  const Call call(caller);
  call.here.implicit.yields = true;
  yield_task(call.here.member);
  call.here.implicit.yields = false;
}

}  // namespace weft::openmp::ompt
