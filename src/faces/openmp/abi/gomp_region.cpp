// GCC's entry points for parallel, sections, single, barrier, critical and atomic.
#include <cstdint>

#include "core/sync/mutex.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_flags.h"
#include "faces/openmp/abi/gomp_loop.h"
#include "faces/openmp/atomic_lock.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/ompt/mutexes.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/region.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/single.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

core::Mutex unnamed_critical;

// A critical name is a zero-initialised pointer of the program's: room enough for a mutex, whose
// initial state is zero.
core::Mutex& critical(void** name) {
  static_assert(sizeof(core::Mutex) <= sizeof(void*));
  return *reinterpret_cast<core::Mutex*>(name);
}

// Sections are a loop over their numbers, from 1, one at a time; 0 says that none is left.
Loop over_sections(unsigned count) {
  Loop loop;
  loop.start = 1;
  loop.end = std::uint64_t{count} + 1;
  loop.schedule = Schedule::dynamic;
  loop.chunk = 1;
  loop.is_sections = true;
  loop.section_count = count;
  return loop;
}

unsigned next_section(Member& member) {
  Chunk chunk;
  return next_chunk(member, &chunk) ? static_cast<unsigned>(chunk.start) : 0;
}

Team& open(void (*function)(void*), void* data, unsigned threads) {
  Member& opener = this_member();
  return open_region(opener, resolve_size(opener, threads, 0), function, data);
}

[[gnu::noinline, gnu::cold]] void run_watched_region(ompt::Caller caller, void (*function)(void*), void* data,
                                                     unsigned threads) {
  const ompt::RegionCall call(caller, threads);
  Team& team = open(function, data, threads);
  ompt::call_body(function, data);
  close_region(team);
}

Team& open_with_sections(void (*function)(void*), void* data, unsigned threads, unsigned count) {
  Member& opener = this_member();
  Team& team = prepare_region(opener, resolve_size(opener, threads, count), function, data);
  prepare_loop(team, over_sections(count));
  start_members(team);
  return team;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  note_proc_bind(flags);
  if (ompt::watched) [[unlikely]]
    return run_watched_region(WEFT_CALLER, function, data, threads);
  Team& team = open(function, data, threads);
  function(data);
  close_region(team);
}

WEFT_EXPORT void GOMP_parallel_start(void (*function)(void*), void* data, unsigned threads) {
  const auto open_it = [&] { open(function, data, threads); };
  if (ompt::watched) [[unlikely]]
    return ompt::open_watched_region(WEFT_CALLER, threads, __builtin_frame_address(0), open_it);
  open_it();
}

WEFT_EXPORT void GOMP_parallel_end() { close_region(*this_member().team); }

WEFT_EXPORT void GOMP_parallel_sections(void (*function)(void*), void* data, unsigned threads, unsigned count,
                                        unsigned flags) {
  note_proc_bind(flags);
  if (ompt::watched) [[unlikely]] {
    const ompt::RegionCall call(WEFT_CALLER, threads);
    Team& team = open_with_sections(function, data, threads, count);
    ompt::call_body(function, data);
    return close_region(team);
  }
  Team& team = open_with_sections(function, data, threads, count);
  function(data);
  close_region(team);
}

WEFT_EXPORT void GOMP_parallel_sections_start(void (*function)(void*), void* data, unsigned threads, unsigned count) {
  const auto open = [&] { open_with_sections(function, data, threads, count); };
  if (ompt::watched) [[unlikely]]
    return ompt::open_watched_region(WEFT_CALLER, threads, __builtin_frame_address(0), open);
  open();
}

WEFT_EXPORT unsigned GOMP_sections_start(unsigned count) {
  ompt::note_caller(WEFT_CALLER);
  Member& member = this_member();
  enter_loop(member, over_sections(count));
  return next_section(member);
}

WEFT_EXPORT unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  ompt::note_caller(WEFT_CALLER);
  Member& member = this_member();
  enter_general(member, over_sections(count), reductions, memory);
  return next_section(member);
}

WEFT_EXPORT unsigned GOMP_sections_next() { return next_section(this_member()); }

WEFT_EXPORT void GOMP_sections_end_nowait() { leave_loop(this_member()); }

WEFT_EXPORT void GOMP_sections_end() {
  Member& member = this_member();
  leave_loop(member);
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, team_barrier);
  team_barrier(member);
}

WEFT_EXPORT bool GOMP_single_start() {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_single(WEFT_CALLER, false);
  return first_at_single(this_member());
}

// copyprivate: the member that executes the region gets nullptr and later hands its data over; a barrier that the
// compiler adds follows.
WEFT_EXPORT void* GOMP_single_copy_start() {
  if (ompt::watched) [[unlikely]] {
    if (ompt::watched_single(WEFT_CALLER, true)) return nullptr;
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, wait_for_copies);
  }
  Member& member = this_member();
  return first_at_single(member) ? nullptr : wait_for_copies(member);
}

WEFT_EXPORT void GOMP_single_copy_end(void* data) {
  if (ompt::watched) [[unlikely]] {
    ompt::single_ends(WEFT_CALLER);
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare,
                             [data](Member& member) { hand_copies_over(member, data); });
  }
  hand_copies_over(this_member(), data);
}

// GCC does not tell whether the program says barrier, or a construct ends with one.
WEFT_EXPORT void GOMP_barrier() {
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_explicit, team_barrier);
  team_barrier(this_member());
}

#define DEFINE_MUTEX(start, end, parameter, mutex, kind)                                              \
  WEFT_EXPORT void start(parameter) {                                                                 \
    if (ompt::watched) [[unlikely]]                                                                   \
      return ompt::acquire(WEFT_CALLER, ompt::MutexKind::kind, &(mutex), 0, [&] { (mutex).lock(); }); \
    (mutex).lock();                                                                                   \
  }                                                                                                   \
  WEFT_EXPORT void end(parameter) {                                                                   \
    if (ompt::watched) [[unlikely]]                                                                   \
      return ompt::release(WEFT_CALLER, ompt::MutexKind::kind, &(mutex), [&] { (mutex).unlock(); });  \
    (mutex).unlock();                                                                                 \
  }
DEFINE_MUTEX(GOMP_critical_start, GOMP_critical_end, , unnamed_critical, critical)
DEFINE_MUTEX(GOMP_critical_name_start, GOMP_critical_name_end, void** name, critical(name), critical)
DEFINE_MUTEX(GOMP_atomic_start, GOMP_atomic_end, , atomic_lock, atomic)
