// Members count the single regions that they have come to; the team counts those that somebody has begun. Who takes the
// team's count from the number of those before to the next one executes the region. The count lies beside that of
// the barrier's arrivals: the barrier that mostly follows needs that cache line anyway.
//
// copyprivate. What the others copy lies on the stack of the member that has executed the region. A barrier keeps them
// until it is there, and another one keeps that member until they have copied. In a cancelled region barriers keep
// nobody, since some members may have left the region already. There each member notes how many of its single regions
// it is through with, copies and all (Team::passed): at each barrier, which follows the copying. Who has executed a
// region waits until all others are through with it, or done; and before it hands over another one's, with the one
// before, so that nobody finds the wrong ones. The numbers only grow, and a member waits for those that are behind it
// alone: so nobody waits for ever. (Which are done, the bits of vacant seats say, and the master itself: some may be
// before anybody has cancelled anything.)
#include "faces/openmp/single.h"

#include "base/panic.h"
#include "core/scheduler.h"
#include "faces/openmp/region_end.h"
#include "faces/openmp/team.h"
#include "faces/openmp/team_barrier.h"

namespace weft::openmp {
namespace {

void note_passed(const Member& member, std::uint32_t singles) {
  member.team->passed.items()[member.number].store(singles, std::memory_order_release);
}

bool is_done(const Team& team, unsigned number) {
  if (number == 0) return team.master.copies == Member::has_left;
  return is_vacant(team, number);
}

// All others are through with so many, or done. (Acquires: what they have read may be gone afterwards.)
void wait_for_others(const Member& member, std::uint32_t singles) {
  const Team& team = *member.team;
  for (unsigned number = 0; number < team.size; ++number)
    while (number != member.number && team.passed.items()[number].load(std::memory_order_acquire) < singles &&
           !is_done(team, number))
      core::yield();
}

}  // namespace

// Bug: the flag was set behind the lock, and the second of two that cancel took back what members had noted since.
void mark_cancelled(Team& team) {
  const core::SpinGuard guard(team.tasks.lock);
  if (is_cancelled(team)) return;
  if (!team.passed.reserve(team.size)) base::panic("no memory for a team of %u", team.size);
  for (unsigned number = 0; number < team.size; ++number)
    team.passed.items()[number].store(0, std::memory_order_relaxed);  // those who see that it is cancelled see this
  // Partner: those who wait look at the flag after they have shown themselves.
  team.cancelled.store(true, std::memory_order_seq_cst);
}

// (Bug: it noted what it is through with behind the wait. Two that had executed a region each, before anybody
// cancelled, waited for each other.)
void settle_copies(Member& member) {
  if (member.copies == Member::waits_for_copies) return;
  note_passed(member, member.singles);
  if (member.copies != 0) wait_for_others(member, member.copies);
}

bool first_at_single(Member& member) {
  if (member.team->size == 1) return true;
  std::uint32_t before = member.singles++;
  return member.team->singles.compare_exchange_strong(before, before + 1, std::memory_order_relaxed);
}

void hand_copies_over(Member& member, void* data) {
  Team& team = *member.team;
  if (is_cancelled(team)) [[unlikely]] {
    note_passed(member, member.singles - 1);
    wait_for_others(member, member.singles - 1);
  }
  team.copied = data;
  team.copies_of.store(member.singles, std::memory_order_release);
  member.copies = member.singles;
  team_barrier(member);
}

void* wait_for_copies(Member& member) {
  Team& team = *member.team;
  const std::uint32_t before = member.copies;
  member.copies = Member::waits_for_copies;
  team_barrier(member);
  if (is_cancelled(team)) [[unlikely]] {
    note_passed(member, member.singles - 1);
    while (team.copies_of.load(std::memory_order_acquire) != member.singles) core::yield();
  }
  member.copies = before;
  return team.copied;
}

}  // namespace weft::openmp
