// Members count the single regions that they have come to; the team counts those that somebody has begun. Who takes the
// team's count from the number of those before to the next one executes the region. The count lies beside that of
// the barrier's arrivals: the barrier that mostly follows needs that cache line anyway.
#include "faces/openmp/single.h"

#include "core/scheduler.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

bool first_at_single(Member& member) {
  if (member.team->size == 1) return true;
  std::uint32_t before = member.singles++;
  return member.team->singles.compare_exchange_strong(before, before + 1, std::memory_order_relaxed);
}

void hand_copies_over(Member& member, void* data) {
  Team& team = *member.team;
  team.copied = data;
  team.copies_of.store(member.singles, std::memory_order_release);
  team_barrier(member);
}

// In a cancelled region the barrier keeps nobody; but who executes a single region comes to the end of it.
void* wait_for_copies(Member& member) {
  Team& team = *member.team;
  team_barrier(member);
  while (team.copies_of.load(std::memory_order_acquire) != member.singles) core::yield();
  return team.copied;
}

}  // namespace weft::openmp
