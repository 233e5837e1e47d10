// The worksharing loop (OpenMP 5.2, 11.5) in every schedule, and sections as a loop over their numbers.
#pragma once

#include <cstdint>

#include "faces/openmp/member.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {

struct Iterations;

/// A loop as the program states it. Signed loops pass their values converted to unsigned.
struct Loop {
  std::uint64_t start = 0, end = 0, step = 1;
  bool up = true;  // the direction; step is negative (two's complement) when it is false
  Schedule schedule = Schedule::static_;
  std::uint64_t chunk = 0;  // 0: none given
  std::uint64_t width = 1;  // of simd: chunks that the schedule chooses are multiples of it, but for the last one
  bool ordered = false;
  bool nonmonotonic = false;             // dynamic: a member's chunks may come in any order
  bool is_sections = false;              // over the numbers of sections,
  unsigned section_count = 0;            // so many
  const Iterations* doacross = nullptr;  // of a loop whose iterations wait for each other (doacross.h)
};

/// The next chunk of a loop: values of the loop variable, `end` exclusive.
struct Chunk {
  std::uint64_t start, end;
};

/// The member enters the loop; every member of the team does. `memory_size`: bytes of zeroed memory
/// that the members share until the loop's end (0: none).
void enter_loop(Member& member, const Loop& loop, std::size_t memory_size = 0, const EntryStep* step = nullptr);

/// For combined constructs: the loop of a region that is being opened, already entered by every
/// member of the team to come.
struct Team;
void prepare_loop(Team& team, const Loop& loop);

/// Iterations of a loop, counted from 0.
struct Range {
  std::uint64_t first, last;  // [first, last)
  bool empty() const { return first == last; }
};

/// A chunk, or what is left of one at the loop's end.
inline Range chunk_from(const Workshare& shared, std::uint64_t first) {
  const std::uint64_t left = shared.trips - first;
  return {first, shared.chunk < left ? first + shared.chunk : shared.trips};
}

/// One chunk of a dynamic loop whose counter may pass the end; false: none is left.
inline bool take_by_addition(Workshare& shared, Range* range) {
  const std::uint64_t first = shared.next.fetch_add(shared.chunk, std::memory_order_relaxed);
  if (first >= shared.trips) return false;
  *range = chunk_from(shared, first);
  return true;
}

/// The member's next chunk; false: none is left for it. Passes the turn of an ordered loop on. Of a loop that is
/// attended LoopPosition says afterwards which chunk that is.
bool next_range_slowly(Member& member, Range* range);

/// The same, by one atomic operation where that will do: a dynamic loop whose chunks nobody attends.
[[gnu::always_inline]] inline bool next_range(Member& member, Range* range) {
  Workshare& shared = *member.loop.shared;
  if (member.loop.attended) return next_range_slowly(member, range);
  if (shared.next_may_pass) return take_by_addition(shared, range);
  std::uint32_t number = 0;
  if (!shared.in_parts || !shared.parts.take_own(member.number, number)) return next_range_slowly(member, range);
  *range = chunk_from(shared, number * shared.chunk);
  return true;
}

/// The same in values of the loop variable. The loop's own end for the last one: start + trips * step may lie beyond
/// the type's range.
[[gnu::always_inline]] inline bool next_chunk(Member& member, Chunk* chunk) {
  Range range;
  if (!next_range(member, &range)) return false;
  const Workshare& shared = *member.loop.shared;
  *chunk = {shared.start + range.first * shared.step,
            range.last == shared.trips ? shared.end : shared.start + range.last * shared.step};
  return true;
}

/// The member leaves the loop.
void leave_loop(Member& member);

/// The loop with the schedule of run-sched-var.
Loop with_runtime_schedule(Member& member, Loop loop, Dialect dialect);

/// The ordered construct: waits for the turn of the member's chunk (ordered.cpp).
void begin_ordered(Member& member);
void pass_turn(Member& member);

}  // namespace weft::openmp
