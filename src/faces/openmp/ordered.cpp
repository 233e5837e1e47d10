// The ordered construct: chunks take their turns in iteration order.
//
// `turn` is the first iteration whose chunk has not been passed. A member waits until that is the
// first iteration of the chunk it has in hand, before its first ordered region in the chunk, or, if
// it met none, when it is through with the chunk; then it passes the turn to the chunk's end.
//
// Those who wait park at one of many addresses, by the turn that they wait for, so that who passes it wakes the one
// whose turn it is and not all of them. Several turns may share an address: who was woken in vain parks again. No
// wake-up is lost: the passer writes the turn, then reads `turn_waiters`; a waiter counts itself there, then looks at
// the turn, under the lock of its address' queue (both in the total order of seq_cst). If the passer reads 0, the
// waiter's look comes later and finds its turn.
#include "core/parking_lot.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/task_wait.h"

namespace weft::openmp {
namespace {

// In a cancelled region a turn may never come.
bool not_its_turn(const void* argument) {
  auto member = static_cast<const Member*>(argument);
  return member->loop.shared->turn.load(std::memory_order_seq_cst) != member->loop.first &&
         !member->team->cancelled.load(std::memory_order_seq_cst);
}

// Chunks are often as long as each other: their numbers shall not meet in a few of the addresses.
const void* place_of_turn(const Workshare& shared, std::uint64_t turn) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  return waiting_place(shared, (turn * golden) >> 32U);
}

}  // namespace

void begin_ordered(Member& member) {
  LoopPosition& position = member.loop;
  if (position.shared == nullptr || !position.ordered) return;
  Workshare& shared = *position.shared;
  for (unsigned round = 0; not_its_turn(&member); ++round) {
    if (keep_looking(*member.team, round)) continue;
    shared.turn_waiters.fetch_add(1, std::memory_order_seq_cst);
    core::park(place_of_turn(shared, position.first), not_its_turn, &member);
    shared.turn_waiters.fetch_sub(1, std::memory_order_relaxed);
  }
}

void pass_turn(Member& member) {
  begin_ordered(member);
  Workshare& shared = *member.loop.shared;
  const std::uint64_t next = member.loop.last;
  shared.turn.store(next, std::memory_order_seq_cst);
  if (shared.turn_waiters.load(std::memory_order_seq_cst) != 0) core::unpark(place_of_turn(shared, next));
}

}  // namespace weft::openmp
