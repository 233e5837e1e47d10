// The ordered construct: chunks take their turns in iteration order.
//
// `turn` is the first iteration whose chunk has not been passed. A member waits until that is the
// first iteration of the chunk it has in hand, before its first ordered region in the chunk, or, if
// it met none, when it is through with the chunk; then it passes the turn to the chunk's end.
//
// Those who wait park by the turn that they wait for, so that who passes it wakes the one whose turn it is and not all
// of them (workshare.h, wait_inside).
#include "faces/openmp/loop.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

// In a cancelled region the turn of a chunk may never come that a member should have had who has left. Chunks that are
// taken are executed: a loop with ordered regions is not cancelled itself. (Bug: nobody waited for those either, and
// their ordered regions ran at the same time.)
bool not_its_turn(const void* argument) {
  auto member = static_cast<const Member*>(argument);
  const Workshare& shared = *member->loop.shared;
  return shared.turn.load(std::memory_order_seq_cst) != member->loop.first &&
         !(shared.schedule == Schedule::static_ && member->team->cancelled.load(std::memory_order_seq_cst));
}

// Chunks are often as long as each other: their numbers shall not meet in a few of the addresses.
std::uint64_t scattered(std::uint64_t turn) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
  return (turn * golden) >> 32U;
}

}  // namespace

void begin_ordered(Member& member) {
  LoopPosition& position = member.loop;
  if (position.shared == nullptr || !position.ordered) return;
  if (not_its_turn(&member)) wait_inside(member, *position.shared, scattered(position.first), not_its_turn, &member);
}

void pass_turn(Member& member) {
  begin_ordered(member);
  Workshare& shared = *member.loop.shared;
  const std::uint64_t next = member.loop.last;
  shared.turn.store(next, std::memory_order_seq_cst);
  wake_inside(shared, scattered(next));
}

}  // namespace weft::openmp
