#include "faces/openmp/loop.h"

#include <cstdlib>

#include "base/panic.h"
#include "faces/openmp/doacross.h"
#include "faces/openmp/even_deal.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

// Signed bounds arrive as two's complement. Whether the loop runs at all depends on their type, so
// it was decided before: start and end are in order here, or equal.
std::uint64_t trip_count(const Loop& loop) {
  const std::uint64_t distance = loop.up ? loop.end - loop.start : loop.start - loop.end;
  const std::uint64_t stride = loop.up ? loop.step : 0 - loop.step;
  return distance == 0 ? 0 : (distance - 1) / stride + 1;
}

// Fewer chunks than so many for each member are shared out one by one.
constexpr std::uint64_t fewest_in_a_part = 2;

// How members come to their chunks where the schedule leaves it to who comes first.
void prepare_taking(Workshare& shared, const Loop& loop, unsigned members) {
  shared.next_may_pass = false;
  shared.in_parts = false;
  if (shared.schedule != Schedule::dynamic) return;
  const std::uint64_t chunks = shared.trips == 0 ? 0 : (shared.trips - 1) / shared.chunk + 1;
  if (loop.nonmonotonic && !loop.ordered && members > 1 && chunks >= fewest_in_a_part * members &&
      chunks <= LoopParts::most_chunks) {
    shared.parts.deal(chunks, members);
    shared.in_parts = true;
    return;
  }
  // Each member passes the end once.
  std::uint64_t beyond;
  shared.next_may_pass = !__builtin_mul_overflow(shared.chunk, std::uint64_t{members} + 1, &beyond) &&
                         !__builtin_add_overflow(shared.trips, beyond, &beyond);
}

// The next multiple of the width; the number itself where there is none.
std::uint64_t widen(std::uint64_t count, std::uint64_t width) {
  std::uint64_t wider;
  return __builtin_add_overflow(count - 1, width, &wider) ? count : wider - wider % width;
}

void fill(Workshare& shared, const Loop& loop, unsigned members, std::size_t memory_size) {
  shared.start = loop.start;
  shared.end = loop.end;
  shared.step = loop.step;
  shared.trips = trip_count(loop);
  shared.schedule = loop.schedule == Schedule::auto_ ? Schedule::static_ : loop.schedule;
  shared.chunk = loop.chunk;
  shared.width = loop.width;
  if (shared.chunk == 0 && shared.schedule != Schedule::static_) shared.chunk = 1;
  if (shared.chunk == 0 && loop.width != 1 && shared.trips != 0)
    shared.chunk = widen((shared.trips - 1) / members + 1, loop.width);
  prepare_taking(shared, loop, members);
  shared.next.store(0, std::memory_order_relaxed);
  shared.turn.store(0, std::memory_order_relaxed);
  if (loop.doacross != nullptr) prepare_doacross(shared, *loop.doacross, members);
  if (memory_size != 0) {
    shared.memory = std::calloc(1, memory_size);
    if (shared.memory == nullptr) base::panic("no memory for a loop with %zu bytes of shared data", memory_size);
  }
}

void begin_position(Member& member, Workshare& shared, bool ordered) {
  member.loop.shared = &shared;
  member.loop.chunks_taken = 0;
  member.loop.first = member.loop.last = 0;
  member.loop.ordered = ordered;
  member.loop.attended = ordered || ompt::watched;
}

// One block for each member, the first ones an iteration longer.
Range static_block(const Workshare& shared, const Member& member) {
  if (member.loop.chunks_taken != 0) return {0, 0};
  const EvenDeal<std::uint64_t> dealt(shared.trips, member.team->size);
  const std::uint64_t first = dealt.first_of(member.number);
  return {first, first + dealt.count_of(member.number)};
}

// Chunks dealt round robin.
Range static_chunk(const Workshare& shared, const Member& member) {
  std::uint64_t first;
  if (__builtin_mul_overflow(member.loop.chunks_taken, static_cast<std::uint64_t>(member.team->size), &first) ||
      __builtin_add_overflow(first, static_cast<std::uint64_t>(member.number), &first) ||
      __builtin_mul_overflow(first, shared.chunk, &first) || first >= shared.trips)
    return {0, 0};
  return chunk_from(shared, first);
}

Range take_from_parts(Workshare& shared, const Member& member) {
  std::uint32_t number = 0;
  return shared.parts.take(member.number, number) ? chunk_from(shared, number * shared.chunk) : Range{0, 0};
}

// Whoever comes takes `wanted(left)` iterations. A compare-exchange, not an addition: the counter of
// a loop over almost 2^64 iterations must not wrap.
template <class Wanted>
Range take_next(Workshare& shared, Wanted wanted) {
  std::uint64_t first = shared.next.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t left = shared.trips - first;
    if (left == 0) return {0, 0};
    std::uint64_t count = wanted(left);
    if (count > left) count = left;
    if (shared.next.compare_exchange_weak(first, first + count, std::memory_order_relaxed))
      return {first, first + count};
  }
}

Range take(Workshare& shared, const Member& member) {
  switch (shared.schedule) {
    case Schedule::dynamic:
      if (shared.in_parts) return take_from_parts(shared, member);
      if (shared.next_may_pass) {
        Range range{0, 0};
        take_by_addition(shared, &range);
        return range;
      }
      return take_next(shared, [&](std::uint64_t) { return shared.chunk; });
    case Schedule::guided: {
      const std::uint64_t size = member.team->size;
      return take_next(shared, [&](std::uint64_t left) {
        std::uint64_t part = (left - 1) / size + 1;
        if (shared.width != 1) [[unlikely]]
          part = widen(part, shared.width);
        return part < shared.chunk ? shared.chunk : part;
      });
    }
    default:
      break;
  }
  return shared.chunk == 0 ? static_block(shared, member) : static_chunk(shared, member);
}

}  // namespace

void enter_loop(Member& member, const Loop& loop, std::size_t memory_size, const EntryStep* step) {
  bool first = false;
  Workshare& shared = enter_construct(member, &first);
  if (first) {
    fill(shared, loop, member.team->size, memory_size);
  }
  if (step != nullptr) take_entry_step(member, shared, first, *step);
  if (first) publish_construct(shared);
  begin_position(member, shared, loop.ordered);
  if (ompt::watched) [[unlikely]]
    ompt::loop_begins(member, loop);
}

void prepare_loop(Team& team, const Loop& loop) {
  Workshare& shared = team.workshares.slot(0);
  shared.state.store(Workshare::phase_preparing, std::memory_order_relaxed);
  fill(shared, loop, team.size, 0);
  publish_construct(shared);
  team.first_construct = 1;
  team.master.constructs = 1;
  begin_position(team.master, shared, loop.ordered);
  if (ompt::watched) [[unlikely]]
    ompt::combined_loop_begins(team, loop);
}

bool next_range_slowly(Member& member, Range* range) {
  LoopPosition& position = member.loop;
  if (position.ordered && position.first != position.last) pass_turn(member);
  *range = take(*position.shared, member);
  ++position.chunks_taken;
  position.first = range->first;
  position.last = range->last;
  if (range->empty()) return false;
  if (ompt::watched) [[unlikely]]
    ompt::chunk_is_taken(member, range->first, range->last - range->first);
  return true;
}

void leave_loop(Member& member) {
  if (ompt::watched) [[unlikely]]
    ompt::loop_ends(member);
  if (member.loop.ordered && member.loop.first != member.loop.last) pass_turn(member);
  leave_construct(member, *member.loop.shared);
}

Loop with_runtime_schedule(Member& member, Loop loop, Dialect dialect) {
  const RunSchedule schedule = run_schedule(icv_of(member), dialect);
  loop.schedule = schedule.kind;
  // auto: one block each. The chunk is that of the schedule before it.
  loop.chunk = schedule.kind == Schedule::auto_ ? 0 : static_cast<std::uint64_t>(schedule.chunk);
  loop.nonmonotonic = false;
  return loop;
}

}  // namespace weft::openmp
