// The barrier of a team.
//
// Members count up `arrived`. Without tasks, the last one releases the round. With tasks, a barrier
// is over only when all of the region's tasks have ended: every member that waits runs tasks, and
// the one that finds all members arrived and nothing pending releases (task_pool.h says why two
// that find it at the same time do no harm: the round is changed under the pool's lock, once).
//
// Sleeping members are those listed in the pool. A member lists itself under the lock and only if
// the round has not changed; the releaser changes the round and empties the list under the lock, so
// nobody is left behind. What a released member does first in the next round cannot disturb this
// one: `arrived` is reset before the round changes, and nobody can arrive again before it changes.
//
// In a cancelled region nobody waits: some members may be at its end already (cancel.h). Whoever cancels changes the
// round too, after the flag; so one that waits looks at the round alone, and one that arrives and sees the new round
// sees the flag. What they leave in `arrived` is put in order when the region is closed.
#include "faces/openmp/task_wait.h"

namespace weft::openmp {
namespace {

void release(Team& team, std::uint32_t round) {
  TaskPool& pool = team.tasks;
  core::Unit* chain = nullptr;
  pool.lock.lock();
  if (team.round.load(std::memory_order_relaxed) == round) {
    team.arrived.store(0, std::memory_order_relaxed);
    team.worksharing_cancelled.store(false, std::memory_order_relaxed);
    team.round.store(round + 1, std::memory_order_release);
    chain = unlist_all(pool);
  }
  pool.lock.unlock();
  core::resume_all(chain);
}

struct BarrierWait {
  static constexpr bool arms = false;
  Team& team;
  std::uint32_t round;
  bool over() const { return team.round.load(std::memory_order_acquire) != round; }
  const Task* only_below() const { return nullptr; }
  bool try_to_end() const {
    if (team.arrived.load(std::memory_order_acquire) != team.size || !quiescent(team)) return false;
    release(team, round);
    return true;
  }
  void arm(TaskWaiter&) const {}
  void disarm() const {}
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
  const bool last = team.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == team.size;
  if (last && !team.tasks.used.load(std::memory_order_acquire)) {
    release(team, round);
    return;
  }
  BarrierWait wait{team, round};
  wait_for(member, wait);
}

}  // namespace weft::openmp
