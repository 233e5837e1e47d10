// LLVM's entry points for worksharing loops, distribute and sections. The twins (signed and unsigned, 32 and 64 bits)
// are made from one template each.
#include <climits>

#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/static_schedule.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

// How the compiler numbers schedules. Ordered loops are `llvm_to_ordered` above the others, loops whose iterations
// are not to be merged `llvm_to_unmerged` above both.
enum LlvmSchedule : std::int32_t {
  llvm_static_chunked = 33,
  llvm_static = 34,
  llvm_dynamic_chunked = 35,
  llvm_guided_chunked = 36,
  llvm_runtime = 37,
  llvm_auto = 38,
  llvm_trapezoidal = 39,
  llvm_static_greedy = 40,
  llvm_static_balanced = 41,
  llvm_guided_iterative_chunked = 42,
  llvm_guided_analytical_chunked = 43,
  llvm_static_steal = 44,
  llvm_static_balanced_chunked = 45,  // simd: chunks are multiples of the given one
  llvm_guided_simd = 46,
  llvm_runtime_simd = 47,
  llvm_first_ordered = 64,
  llvm_distribute_static_chunked = 91,
  llvm_distribute_static = 92,
  llvm_first_unmerged = 160,
  llvm_to_ordered = 32,
  llvm_to_unmerged = 128,
  llvm_nonmonotonic = 1 << 30,
  llvm_modifiers = 3 << 29,  // monotonic, nonmonotonic
};

LoopShare share_of(const Member& member) { return {member.number, member.team->size}; }

LoopShare share_of_team(Member& member) {
  const Team& team = initial_team(member);
  return {team.league_number, team.league_size};
}

template <class T>
using Signed = std::make_signed_t<T>;

template <class T>
void tell(const StaticPart<T>& part, std::int32_t* last, T* lower, T* upper, Signed<T>* stride) {
  if (last != nullptr) *last = part.last ? 1 : 0;
  *lower = part.range.lower;
  *upper = part.range.upper;
  *stride = part.stride;
}

template <class T>
StaticPart<T> static_part(std::int32_t schedule, const LoopRange<T>& loop, LoopShare share, Signed<T> chunk,
                          const char* name) {
  switch (schedule) {
    case llvm_static:
    case llvm_static_greedy:
    case llvm_static_balanced:
    case llvm_auto:
      return static_block_of(loop, share);
    case llvm_static_chunked:
      return static_chunk_of(loop, share, chunk);
    case llvm_static_balanced_chunked: {
      using U = std::make_unsigned_t<T>;
      const U width = chunk < 1 ? 1 : static_cast<U>(chunk);
      const U each = (loop.trips() - 1) / static_cast<U>(share.size) + 1;
      return static_chunk_of(loop, share, static_cast<Signed<T>>((each + width - 1) / width * width));
    }
    default:
      base::panic("%s: schedule %d is not a static one", name, schedule);
  }
}

// What the compiler says of a loop that it makes itself.
ompt::WorkKind kind_of_loop(const Ident* place) {
  constexpr std::int32_t is_sections = 0x400, is_distribute = 0x800;
  const std::int32_t flags = place != nullptr ? place->flags : 0;
  if ((flags & is_sections) != 0) return ompt::WorkKind::sections;
  if ((flags & is_distribute) != 0) return ompt::WorkKind::distribute;
  return ompt::WorkKind::loop_static;
}

// A tool is told of the loop as it was, and of what the member has of it now.
template <class T>
[[gnu::noinline, gnu::cold]] void tell_static(ompt::Caller caller, const Ident* place, const LoopRange<T>& loop,
                                              const T* lower, const T* upper) {
  const LoopRange<T> part{*lower, *upper, loop.increment};
  const std::uint64_t trips = loop.empty() ? 0 : static_cast<std::uint64_t>(loop.trips());
  const std::uint64_t own = loop.empty() || part.empty() ? 0 : static_cast<std::uint64_t>(part.trips());
  ompt::static_loop_begins(caller, kind_of_loop(place), trips, {static_cast<std::uint64_t>(*lower), own});
}

template <class T>
void init_static(std::int32_t schedule, std::int32_t* last, T* lower, T* upper, Signed<T>* stride, Signed<T> increment,
                 Signed<T> chunk, const char* name) {
  const LoopRange<T> loop{*lower, *upper, increment};
  if (loop.empty()) {
    if (last != nullptr) *last = 0;
    *stride = increment;
    return;
  }
  Member& member = this_member();
  schedule &= ~llvm_modifiers;
  if (schedule >= llvm_first_unmerged) schedule -= llvm_to_unmerged;
  LoopShare share;
  // Bug: code of `distribute parallel for` goes from its block on by the stride, and came by blocks again that it had
  // had where that was more than the type holds.
  if (schedule == llvm_distribute_static)
    return tell(static_block_as_chunk(loop, share_of_team(member)), last, lower, upper, stride);
  if (schedule == llvm_distribute_static_chunked) {
    schedule = llvm_static_chunked;
    share = share_of_team(member);
  } else {
    if (schedule > llvm_first_ordered) schedule -= llvm_to_ordered;
    share = share_of(member);
    if (member.doacross != nullptr) [[unlikely]]
      tell_trips_of_doacross(member, loop.trips());
  }
  tell(static_part(schedule, loop, share, chunk, name), last, lower, upper, stride);
}

// distribute parallel for, in one: the team's block, and the member's part of that.
template <class T>
void init_static_in_team(std::int32_t schedule, std::int32_t* last, T* lower, T* upper, T* team_upper,
                         Signed<T>* stride, Signed<T> increment, Signed<T> chunk, const char* name) {
  const LoopRange<T> loop{*lower, *upper, increment};
  if (loop.empty()) {
    if (last != nullptr) *last = 0;
    *team_upper = *upper;
    *stride = increment;
    return;
  }
  Member& member = this_member();
  const StaticPart<T> team = static_block_of(loop, share_of_team(member));
  *team_upper = team.range.upper;
  if (team.range.empty()) {
    tell(team, last, lower, upper, stride);
    return;
  }
  StaticPart<T> part = static_part(schedule & ~llvm_modifiers, team.range, share_of(member), chunk, name);
  part.last = part.last && team.last;
  tell(part, last, lower, upper, stride);
}

// distribute with dist_schedule(static, chunk).
template <class T>
void init_static_for_team(std::int32_t* last, T* lower, T* upper, Signed<T>* stride, Signed<T> increment,
                          Signed<T> chunk) {
  const LoopRange<T> loop{*lower, *upper, increment};
  if (loop.empty()) {
    if (last != nullptr) *last = 0;
    *stride = increment;
    return;
  }
  tell(static_chunk_of(loop, share_of_team(this_member()), chunk), last, lower, upper, stride);
}

template <class T>
Loop loop_over(const LoopRange<T>& range) {
  using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const auto wide = [](auto value) { return static_cast<std::uint64_t>(static_cast<Wide>(value)); };
  Loop loop;
  loop.up = range.increment > 0;
  loop.start = wide(range.lower);
  loop.step = static_cast<std::uint64_t>(static_cast<std::int64_t>(range.increment));
  loop.end = loop.start;
  if (range.empty()) return loop;
  // Not behind the bound but behind the last iteration. (Bug: behind the type's last value comes its first, and a loop
  // with a step over all of a 64-bit type had no iterations.)
  const std::uint64_t last = wide(range.value(range.trips() - 1));
  loop.end = loop.up ? last + 1 : last - 1;
  return loop;
}

// The chunk that the compiler says is the width; the program's chunks are counted in it.
Loop with_runtime_schedule_of_simd(Member& member, Loop loop) {
  const std::uint64_t width = loop.chunk != 0 ? loop.chunk : 1;
  loop = with_runtime_schedule(member, loop, Dialect::llvm);
  if (__builtin_mul_overflow(loop.chunk, width, &loop.chunk)) loop.chunk = UINT64_MAX;
  loop.width = loop.chunk != 0 ? loop.chunk : width;
  return loop;
}

Loop scheduled(Loop loop, Member& member, std::int32_t schedule, std::int64_t chunk, const char* name) {
  std::int32_t kind = schedule & ~llvm_modifiers;
  if (kind >= llvm_first_unmerged) kind -= llvm_to_unmerged;
  loop.ordered = kind > llvm_first_ordered;
  if (loop.ordered) kind -= llvm_to_ordered;
  loop.chunk = chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
  loop.nonmonotonic = (schedule & llvm_nonmonotonic) != 0;
  switch (kind) {
    case llvm_static_chunked:
      if (loop.chunk == 0) loop.chunk = 1;
      loop.schedule = Schedule::static_;
      return loop;
    case llvm_static_balanced_chunked:
      loop.width = loop.chunk != 0 ? loop.chunk : 1;
      [[fallthrough]];
    case llvm_static:
    case llvm_static_greedy:
    case llvm_static_balanced:
    case llvm_auto:
      loop.chunk = 0;
      loop.schedule = Schedule::static_;
      return loop;
    case llvm_dynamic_chunked:
    case llvm_static_steal:
      loop.schedule = Schedule::dynamic;
      return loop;
    case llvm_guided_chunked:
    case llvm_trapezoidal:
    case llvm_guided_iterative_chunked:
    case llvm_guided_analytical_chunked:
      loop.schedule = Schedule::guided;
      return loop;
    case llvm_guided_simd:
      loop.width = loop.chunk != 0 ? loop.chunk : 1;
      loop.schedule = Schedule::guided;
      return loop;
    case llvm_runtime:
      return with_runtime_schedule(member, loop, Dialect::llvm);
    case llvm_runtime_simd:
      return with_runtime_schedule_of_simd(member, loop);
    default:
      base::panic("%s: schedule %d is not known", name, schedule);
  }
}

template <class T>
void init_dispatch(std::int32_t schedule, T lower, T upper, Signed<T> increment, Signed<T> chunk, const char* name) {
  Member& member = this_member();
  const LoopRange<T> range{lower, upper, increment};
  Loop loop = scheduled(loop_over(range), member, schedule, chunk, name);
  if (member.doacross != nullptr) [[unlikely]] {
    // Bug: clang says nonmonotonic here too, though ordered makes it monotonic; members had to wait for whole parts.
    loop.nonmonotonic = false;
    if (!range.empty()) tell_trips_of_doacross(member, range.trips());
  }
  enter_loop(member, loop);
}

template <class T>
void init_dispatch_in_team(std::int32_t schedule, std::int32_t* last, T lower, T upper, Signed<T> increment,
                           Signed<T> chunk, const char* name) {
  const LoopRange<T> loop{lower, upper, increment};
  Member& member = this_member();
  StaticPart<T> team{loop, 0};
  if (!loop.empty()) team = static_block_of(loop, share_of_team(member));
  if (last != nullptr) *last = team.last ? 1 : 0;
  enter_loop(member, scheduled(loop_over(team.range), member, schedule, chunk, name));
}

// The loop is left with the first chunk that is not there.
template <class T>
std::int32_t next_part(std::int32_t* last, T* lower, T* upper, Signed<T>* stride) {
  Member& member = this_member();
  if (member.loop.shared == nullptr) return 0;
  Range range;
  if (!next_range(member, &range)) {
    leave_loop(member);
    return 0;
  }
  const Workshare& shared = *member.loop.shared;
  *lower = static_cast<T>(shared.start + range.first * shared.step);
  *upper = static_cast<T>(shared.start + (range.last - 1) * shared.step);
  if (stride != nullptr) *stride = static_cast<Signed<T>>(shared.step);
  if (last != nullptr) *last = range.last == shared.trips ? 1 : 0;
  return 1;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

#define WEFT_KMPC_LOOPS(suffix, T, S)                                                                                  \
  WEFT_EXPORT void __kmpc_for_static_init_##suffix(Ident* place, Gtid, std::int32_t schedule, std::int32_t* last,      \
                                                   T* lower, T* upper, S* stride, S increment, S chunk) {              \
    if (ompt::watched) [[unlikely]] {                                                                                  \
      const LoopRange<T> loop{*lower, *upper, increment};                                                              \
      init_static<T>(schedule, last, lower, upper, stride, increment, chunk, "__kmpc_for_static_init_" #suffix);       \
      return tell_static(WEFT_CALLER, place, loop, lower, upper);                                                      \
    }                                                                                                                  \
    init_static<T>(schedule, last, lower, upper, stride, increment, chunk, "__kmpc_for_static_init_" #suffix);         \
  }                                                                                                                    \
  WEFT_EXPORT void __kmpc_dist_for_static_init_##suffix(Ident* place, Gtid, std::int32_t schedule, std::int32_t* last, \
                                                        T* lower, T* upper, T* team_upper, S* stride, S increment,     \
                                                        S chunk) {                                                     \
    const LoopRange<T> loop{*lower, *upper, increment};                                                                \
    init_static_in_team<T>(schedule, last, lower, upper, team_upper, stride, increment, chunk,                         \
                           "__kmpc_dist_for_static_init_" #suffix);                                                    \
    if (ompt::watched) [[unlikely]]                                                                                    \
      tell_static(WEFT_CALLER, place, loop, lower, upper);                                                             \
  }                                                                                                                    \
  WEFT_EXPORT void __kmpc_team_static_init_##suffix(Ident*, Gtid, std::int32_t* last, T* lower, T* upper, S* stride,   \
                                                    S increment, S chunk) {                                            \
    init_static_for_team<T>(last, lower, upper, stride, increment, chunk);                                             \
  }                                                                                                                    \
  WEFT_EXPORT void __kmpc_dispatch_init_##suffix(Ident*, Gtid, std::int32_t schedule, T lower, T upper, S increment,   \
                                                 S chunk) {                                                            \
    ompt::note_caller(WEFT_CALLER);                                                                                    \
    init_dispatch<T>(schedule, lower, upper, increment, chunk, "__kmpc_dispatch_init_" #suffix);                       \
  }                                                                                                                    \
  WEFT_EXPORT void __kmpc_dist_dispatch_init_##suffix(Ident*, Gtid, std::int32_t schedule, std::int32_t* last,         \
                                                      T lower, T upper, S increment, S chunk) {                        \
    ompt::note_caller(WEFT_CALLER);                                                                                    \
    init_dispatch_in_team<T>(schedule, last, lower, upper, increment, chunk, "__kmpc_dist_dispatch_init_" #suffix);    \
  }                                                                                                                    \
  WEFT_EXPORT std::int32_t __kmpc_dispatch_next_##suffix(Ident*, Gtid, std::int32_t* last, T* lower, T* upper,         \
                                                         S* stride) {                                                  \
    return next_part<T>(last, lower, upper, stride);                                                                   \
  }                                                                                                                    \
  /* An iteration of an ordered loop is over: the turn is passed with the whole chunk. */                              \
  WEFT_EXPORT void __kmpc_dispatch_fini_##suffix(Ident*, Gtid) {}

WEFT_KMPC_LOOPS(4, std::int32_t, std::int32_t)
WEFT_KMPC_LOOPS(4u, std::uint32_t, std::int32_t)
WEFT_KMPC_LOOPS(8, std::int64_t, std::int64_t)
WEFT_KMPC_LOOPS(8u, std::uint64_t, std::int64_t)

WEFT_EXPORT void __kmpc_for_static_fini(Ident*, Gtid) {
  if (ompt::watched) [[unlikely]]
    ompt::static_loop_ends(WEFT_CALLER);
}
WEFT_EXPORT void __kmpc_dispatch_deinit(Ident*, Gtid) {}

// Sections: their number is told when one is asked for, so they are a loop without an end that is left early. A lone
// thread runs them by itself.
WEFT_EXPORT std::int32_t __kmpc_sections_init(Ident*, Gtid) {
  ompt::note_caller(WEFT_CALLER);
  Member& member = this_member();
  if (member.team->size == 1) return 0;
  Loop loop;
  loop.is_sections = true;
  loop.end = INT_MAX;
  loop.schedule = Schedule::dynamic;
  loop.chunk = 1;
  enter_loop(member, loop);
  return 1;
}
WEFT_EXPORT std::int32_t __kmpc_next_section(Ident*, Gtid, std::int32_t count) {
  Member& member = this_member();
  Chunk chunk;
  if (next_chunk(member, &chunk) && chunk.start < static_cast<std::uint64_t>(count))
    return static_cast<std::int32_t>(chunk.start);
  leave_loop(member);
  return count;
}
WEFT_EXPORT void __kmpc_end_sections(Ident*, Gtid) {}
