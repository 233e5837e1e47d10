// The ordered construct: chunks take their turns in iteration order.
//
// `turn` is the first iteration whose chunk has not been passed. A member waits until that is the
// first iteration of the chunk it has in hand, before its first ordered region in the chunk, or, if
// it met none, when it is through with the chunk; then it passes the turn to the chunk's end.
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

}  // namespace

void begin_ordered(Member& member) {
  LoopPosition& position = member.loop;
  if (position.shared == nullptr || !position.ordered) return;
  Workshare& shared = *position.shared;
  for (unsigned round = 0; not_its_turn(&member); ++round) {
    if (keep_looking(*member.team, round)) continue;
    shared.turn_waiters.fetch_add(1, std::memory_order_seq_cst);
    core::park(&shared.turn, not_its_turn, &member);
    shared.turn_waiters.fetch_sub(1, std::memory_order_relaxed);
  }
}

void pass_turn(Member& member) {
  begin_ordered(member);
  Workshare& shared = *member.loop.shared;
  shared.turn.store(member.loop.last, std::memory_order_seq_cst);
  if (shared.turn_waiters.load(std::memory_order_seq_cst) != 0) core::unpark(&shared.turn);
}

}  // namespace weft::openmp
