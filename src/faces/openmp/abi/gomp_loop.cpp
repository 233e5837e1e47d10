// GCC's entry points for the worksharing loop. The twins (long and unsigned long long, schedules,
// combined with parallel) are made from one template each.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_flags.h"
#include "faces/openmp/abi/gomp_loop.h"
#include "faces/openmp/ompt/mutexes.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/region.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

using Ull = unsigned long long;

Loop signed_loop(long start, long end, long step) {
  Loop loop;
  loop.up = step > 0;
  const bool runs = loop.up ? start < end : start > end;
  loop.start = static_cast<std::uint64_t>(start);
  loop.end = static_cast<std::uint64_t>(runs ? end : start);
  loop.step = static_cast<std::uint64_t>(step);
  return loop;
}

Loop unsigned_loop(bool up, Ull start, Ull end, Ull step) {
  Loop loop;
  loop.up = up;
  const bool runs = up ? start < end : start > end;
  loop.start = start;
  loop.end = runs ? end : start;
  loop.step = step;
  return loop;
}

template <class T>
bool begin(const Loop& loop, T* start, T* end) {
  enter_loop(this_member(), loop);
  return next(start, end);
}

// GOMP_loop_start and its kin: any schedule, and memory that the members share.
template <class T>
bool begin_general(Loop loop, long schedule, T chunk, bool ordered, T* start, T* end, std::uintptr_t* reductions,
                   void** memory) {
  enter_general(this_member(), by_number(loop, schedule, chunk, ordered), reductions, memory);
  return start == nullptr || next(start, end);
}

Team& open_with_loop(void (*function)(void*), void* data, unsigned threads, const Loop& loop) {
  Member& opener = this_member();
  Team& team = prepare_region(opener, resolve_size(opener, threads, 0), function, data);
  prepare_loop(team, loop);
  start_members(team);
  return team;
}

void run_with_loop(void (*function)(void*), void* data, unsigned threads, const Loop& loop) {
  Team& team = open_with_loop(function, data, threads, loop);
  function(data);
  close_region(team);
}

[[gnu::noinline, gnu::cold]] void run_watched_with_loop(ompt::Caller caller, void (*function)(void*), void* data,
                                                        unsigned threads, const Loop& loop) {
  const ompt::RegionCall call(caller, threads);
  Team& team = open_with_loop(function, data, threads, loop);
  ompt::call_body(function, data);
  close_region(team);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

// name: between GOMP_loop_ and _start
#define LOOPS_WITH_CHUNK(X)               \
  X(static, static_, false)               \
  X(dynamic, dynamic, false)              \
  X(guided, guided, false)                \
  X(nonmonotonic_dynamic, dynamic, false) \
  X(nonmonotonic_guided, guided, false)   \
  X(ordered_static, static_, true)        \
  X(ordered_dynamic, dynamic, true)       \
  X(ordered_guided, guided, true)
#define LOOPS_BY_RUNTIME(X)            \
  X(runtime, false)                    \
  X(nonmonotonic_runtime, false)       \
  X(maybe_nonmonotonic_runtime, false) \
  X(ordered_runtime, true)

#define DEFINE_NEXT(name)                                                                       \
  WEFT_EXPORT bool GOMP_loop_##name##_next(long* start, long* end) { return next(start, end); } \
  WEFT_EXPORT bool GOMP_loop_ull_##name##_next(Ull* start, Ull* end) { return next(start, end); }

#define DEFINE_WITH_CHUNK(name, schedule, ordered)                                                                  \
  WEFT_EXPORT bool GOMP_loop_##name##_start(long first, long last, long step, long chunk, long* start, long* end) { \
    ompt::note_caller(WEFT_CALLER);                                                                                 \
    return begin(scheduled(signed_loop(first, last, step), Schedule::schedule, chunk, ordered), start, end);        \
  }                                                                                                                 \
  WEFT_EXPORT bool GOMP_loop_ull_##name##_start(bool up, Ull first, Ull last, Ull step, Ull chunk, Ull* start,      \
                                                Ull* end) {                                                         \
    ompt::note_caller(WEFT_CALLER);                                                                                 \
    return begin(scheduled(unsigned_loop(up, first, last, step), Schedule::schedule, chunk, ordered), start, end);  \
  }                                                                                                                 \
  DEFINE_NEXT(name)
LOOPS_WITH_CHUNK(DEFINE_WITH_CHUNK)

#define DEFINE_BY_RUNTIME(name, ordered)                                                                        \
  WEFT_EXPORT bool GOMP_loop_##name##_start(long first, long last, long step, long* start, long* end) {         \
    ompt::note_caller(WEFT_CALLER);                                                                             \
    return begin(by_runtime(signed_loop(first, last, step), ordered), start, end);                              \
  }                                                                                                             \
  WEFT_EXPORT bool GOMP_loop_ull_##name##_start(bool up, Ull first, Ull last, Ull step, Ull* start, Ull* end) { \
    ompt::note_caller(WEFT_CALLER);                                                                             \
    return begin(by_runtime(unsigned_loop(up, first, last, step), ordered), start, end);                        \
  }                                                                                                             \
  DEFINE_NEXT(name)
LOOPS_BY_RUNTIME(DEFINE_BY_RUNTIME)

#define DEFINE_GENERAL(name, ordered)                                                                                 \
  WEFT_EXPORT bool GOMP_loop_##name(long first, long last, long step, long schedule, long chunk, long* start,         \
                                    long* end, std::uintptr_t* reductions, void** memory) {                           \
    ompt::note_caller(WEFT_CALLER);                                                                                   \
    return begin_general(signed_loop(first, last, step), schedule, chunk, ordered, start, end, reductions, memory);   \
  }                                                                                                                   \
  WEFT_EXPORT bool GOMP_loop_ull_##name(bool up, Ull first, Ull last, Ull step, long schedule, Ull chunk, Ull* start, \
                                        Ull* end, std::uintptr_t* reductions, void** memory) {                        \
    ompt::note_caller(WEFT_CALLER);                                                                                   \
    return begin_general(unsigned_loop(up, first, last, step), schedule, chunk, ordered, start, end, reductions,      \
                         memory);                                                                                     \
  }
DEFINE_GENERAL(start, false)
DEFINE_GENERAL(ordered_start, true)

#define DEFINE_PARALLEL(name, schedule)                                                                         \
  WEFT_EXPORT void GOMP_parallel_loop_##name(void (*function)(void*), void* data, unsigned threads, long first, \
                                             long last, long step, long chunk, unsigned flags) {                \
    note_proc_bind(flags);                                                                                      \
    const Loop loop = scheduled(signed_loop(first, last, step), Schedule::schedule, chunk);                     \
    if (ompt::watched) [[unlikely]]                                                                             \
      return run_watched_with_loop(WEFT_CALLER, function, data, threads, loop);                                 \
    run_with_loop(function, data, threads, loop);                                                               \
  }
DEFINE_PARALLEL(static, static_)
DEFINE_PARALLEL(dynamic, dynamic)
DEFINE_PARALLEL(guided, guided)
DEFINE_PARALLEL(nonmonotonic_dynamic, dynamic)
DEFINE_PARALLEL(nonmonotonic_guided, guided)

#define DEFINE_PARALLEL_RUNTIME(name)                                                                           \
  WEFT_EXPORT void GOMP_parallel_loop_##name(void (*function)(void*), void* data, unsigned threads, long first, \
                                             long last, long step, unsigned flags) {                            \
    note_proc_bind(flags);                                                                                      \
    const Loop loop = by_runtime(signed_loop(first, last, step));                                               \
    if (ompt::watched) [[unlikely]]                                                                             \
      return run_watched_with_loop(WEFT_CALLER, function, data, threads, loop);                                 \
    run_with_loop(function, data, threads, loop);                                                               \
  }
DEFINE_PARALLEL_RUNTIME(runtime)
DEFINE_PARALLEL_RUNTIME(nonmonotonic_runtime)
DEFINE_PARALLEL_RUNTIME(maybe_nonmonotonic_runtime)

// As compilers before GCC 4.9 emitted it: the caller runs the master's part, then GOMP_parallel_end.
#define DEFINE_PARALLEL_START(name, schedule)                                                               \
  WEFT_EXPORT void GOMP_parallel_loop_##name##_start(void (*function)(void*), void* data, unsigned threads, \
                                                     long first, long last, long step, long chunk) {        \
    const Loop loop = scheduled(signed_loop(first, last, step), Schedule::schedule, chunk);                 \
    const auto open = [&] { open_with_loop(function, data, threads, loop); };                               \
    if (ompt::watched) [[unlikely]]                                                                         \
      return ompt::open_watched_region(WEFT_CALLER, threads, __builtin_frame_address(0), open);             \
    open();                                                                                                 \
  }
DEFINE_PARALLEL_START(static, static_)
DEFINE_PARALLEL_START(dynamic, dynamic)
DEFINE_PARALLEL_START(guided, guided)

WEFT_EXPORT void GOMP_parallel_loop_runtime_start(void (*function)(void*), void* data, unsigned threads, long first,
                                                  long last, long step) {
  const auto open = [&] { open_with_loop(function, data, threads, by_runtime(signed_loop(first, last, step))); };
  if (ompt::watched) [[unlikely]]
    return ompt::open_watched_region(WEFT_CALLER, threads, __builtin_frame_address(0), open);
  open();
}

WEFT_EXPORT void GOMP_loop_end_nowait() { leave_loop(this_member()); }

WEFT_EXPORT void GOMP_loop_end() {
  Member& member = this_member();
  leave_loop(member);
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, team_barrier);
  team_barrier(member);
}

WEFT_EXPORT void GOMP_ordered_start() {
  Member& member = this_member();
  if (ompt::watched) [[unlikely]]
    return ompt::begin_ordered(WEFT_CALLER, member);
  begin_ordered(member);
}
// The turn is passed with the chunk.
WEFT_EXPORT void GOMP_ordered_end() {
  if (ompt::watched) [[unlikely]]
    ompt::end_ordered(WEFT_CALLER, this_member());
}
