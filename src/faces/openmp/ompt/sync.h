// What a tool is told of barriers, taskwait and taskgroup.
#pragma once

#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/records.h"
#include "faces/openmp/ompt/work.h"

namespace weft::openmp::ompt {

int state_of(SyncKind kind);

inline bool is_barrier(SyncKind kind) {
  return kind != SyncKind::taskwait && kind != SyncKind::taskgroup && kind != SyncKind::reduction;
}

/// The thread waits, for as long as the object lives.
class Wait {
 public:
  Wait(const Here& here, SyncKind kind, const void* code)
      : here_(here), kind_(kind), code_(code), state_(here.thread, state_of(kind)) {
    sync_region_wait(kind_, Endpoint::begin, here_.parallel_data(), here_.task_data(), code_);
  }
  ~Wait() { sync_region_wait(kind_, Endpoint::end, here_.parallel_data(), here_.task_data(), code_); }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  const Here& here_;
  SyncKind kind_;
  const void* code_;
  InState state_;
};

/// A region in which the thread does nothing but wait(member): a barrier, or taskwait.
template <class Function>
[[gnu::noinline, gnu::cold]] auto synchronise(Caller caller, SyncKind kind, Function wait) {
  struct SyncRegion {
    const Call& call;
    SyncKind kind;
    SyncRegion(const Call& from, SyncKind of) : call(from), kind(of) {
      if (is_barrier(kind)) end_of_single(call.here.implicit);
      sync_region(kind, Endpoint::begin, call.here.parallel_data(), call.here.task_data(), call.code);
    }
    ~SyncRegion() { sync_region(kind, Endpoint::end, call.here.parallel_data(), call.here.task_data(), call.code); }
  };
  const Call call(caller);
  const SyncRegion region(call, kind);
  const Wait waiting(call.here, kind, call.code);
  return wait(call.here.member);
}

/// The barrier at the end of a region.
void wait_at_end(Member& member, SyncKind kind, const void* code);

/// taskgroup, within the call that the thread is in: its end waits.
void tell_group_begin(Member& member);
template <class Function>
[[gnu::noinline, gnu::cold]] void end_told_group(Member& member, Function end) {
  const Here here(member);
  const Code code = here.thread.code;
  {
    const Wait waiting(here, SyncKind::taskgroup, code);
    end(member);
  }
  sync_region(SyncKind::taskgroup, Endpoint::end, here.parallel_data(), here.task_data(), code);
}

/// That of a construct that has one.
inline void open_group(Member& member) {
  if (watched) [[unlikely]]
    tell_group_begin(member);
  begin_taskgroup(member);
}
inline void close_group(Member& member) {
  if (watched) [[unlikely]]
    return end_told_group(member, end_taskgroup);
  end_taskgroup(member);
}

/// The program's own.
void begin_watched_taskgroup(Caller caller);
template <class Function>
[[gnu::noinline, gnu::cold]] void end_watched_taskgroup(Caller caller, Function end) {
  const Call call(caller);
  end_told_group(call.here.member, end);
}

void watched_yield(Caller caller);

}  // namespace weft::openmp::ompt
