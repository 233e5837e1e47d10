// The barrier of a team.
//
// Members count up `arrived`. Without tasks, the last one releases the round. With tasks, a barrier
// is over only when all of the region's tasks have ended: every member that waits runs tasks, and
// the one that finds all members arrived and nothing pending releases (task_pool.h says why two
// that find it at the same time do no harm: the round is changed under the pool's lock, once).
//
// Sleeping members are those listed in the pool. Without tasks, a member that lists itself, under the lock, leaves a
// mark in `arrived`. The last one to arrive either sees the mark in what it adds to, and wakes those in the list, or
// has come before: then the member finds that all have arrived, or already none, and does not sleep. So the releaser
// takes the lock only where there is somebody to wake, and nothing has to be ordered but the additions to one word.
// With tasks, both do under the lock what they do. What a released member does first in the next round cannot disturb
// this one: `arrived` is reset before the round changes, and nobody can arrive again before it changes; a mark that
// comes too late wakes somebody in vain. Those who wait look at the round alone, which lies apart: who arrives
// meanwhile does not have to share the count with them.
//
// In a cancelled region nobody waits: some members may be at its end already (cancel.h). Whoever cancels changes the
// round too, after the flag; so one that waits looks at the round alone, and one that arrives and sees the new round
// sees the flag. What they leave in `arrived` is put in order when the region is closed.
#include "faces/openmp/task_wait.h"

namespace weft::openmp {
namespace {

constexpr std::uint32_t somebody_sleeps = 1U << 31U;  // in Team::arrived
constexpr std::uint32_t count_in(std::uint32_t arrived) { return arrived & ~somebody_sleeps; }

void begin_round(Team& team, std::uint32_t round) {
  if (team.worksharing_cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    team.worksharing_cancelled.store(false, std::memory_order_relaxed);
  team.arrived.store(0, std::memory_order_relaxed);
  team.round.store(round + 1, std::memory_order_release);
}

void release_once(Team& team, std::uint32_t round) {
  wake_all_if(team.tasks, [&team, round] {
    if (team.round.load(std::memory_order_relaxed) != round) return false;
    begin_round(team, round);
    return true;
  });
}

struct BarrierWait {
  Team& team;
  std::uint32_t round;
  bool over() const { return team.round.load(std::memory_order_acquire) != round; }
  const Task* only_below() const { return nullptr; }
  bool try_to_end() const {
    if (count_in(team.arrived.load(std::memory_order_acquire)) != team.size || !quiescent(team)) return false;
    release_once(team, round);
    return true;
  }
  bool arm(TaskWaiter&) const {
    if (team.tasks.used.load(std::memory_order_relaxed)) return true;
    const std::uint32_t arrived = count_in(team.arrived.fetch_or(somebody_sleeps, std::memory_order_acq_rel));
    return arrived != 0 && arrived != team.size;
  }
};

}  // namespace

void team_barrier(Member& member) {
  Team& team = *member.team;
  if (team.size == 1 && !team.tasks.used.load(std::memory_order_relaxed)) {
    if (team.worksharing_cancelled.load(std::memory_order_relaxed)) [[unlikely]]
      team.worksharing_cancelled.store(false, std::memory_order_relaxed);
    return;
  }
  const std::uint32_t round = team.round.load(std::memory_order_acquire);  // before the flag: see cancel()
  if (team.cancelled.load(std::memory_order_acquire)) [[unlikely]]
    return;
  const std::uint32_t arrived = team.arrived.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (count_in(arrived) == team.size && !team.tasks.used.load(std::memory_order_acquire)) {
    begin_round(team, round);
    if ((arrived & somebody_sleeps) != 0) wake_all_waiters(team.tasks);
    return;
  }
  BarrierWait wait{team, round};
  wait_for(member, wait);
}

}  // namespace weft::openmp
