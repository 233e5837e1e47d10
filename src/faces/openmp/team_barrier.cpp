// The barrier of a team.
//
// One word, Team::arrived, says all: how many members have arrived, and how many more tasks those have created than
// completed. A barrier is over only when all of the region's tasks have ended; so it is when all members are counted
// and no task is (Arrival::completes). Whose change makes it so releases the round, with no lock and no look at
// anything else; and it is one change, for nobody makes another before the round is released (below).
//
// What a member has to tell of tasks is what its seat counts and the word has not been told of (TaskSeat::told). It
// runs what lies in its own deque first, and tells the rest by the addition that counts it as arrived: so members whose
// tasks nobody else has run pay for a barrier what one without tasks costs. One that finds tasks of others while it
// waits takes itself out of the count before it runs them, and arrives anew, with what it then has to tell, when it
// finds no more. Thus, when all are counted, nobody runs a task, everything has been told, and the sum is exact: the
// tasks that have been created and are not complete. If that is 0 nobody can change the word: a member takes itself out
// only with such a task in hand, and who fulfils an event from outside (tell_barrier_of_completion) tells of such a
// task. (Sums of which some are not told of yet mean nothing, and may be below 0.) A task in hand may also be of the
// time after this barrier, of which its finder has not learned yet; then it sees the new round now, which the one that
// has created the task has seen before, and is counted no more.
//
// The one that has arrived looks for the end of the round alone for a moment before it looks for tasks of others: what
// these make just now they mostly run themselves before they arrive, and the look would take the cache lines of their
// deques and counts away from them.
//
// Sleeping members are those listed in the pool. A member that lists itself, under the lock, leaves a mark in
// `arrived`. Whoever completes the word either sees the mark in it, and wakes those in the list, or has come before:
// then the member finds that all is complete, or already 0, and does not sleep. So the releaser takes the lock only
// where there is somebody to wake, and nothing has to be ordered but the changes of one word. What a released member
// does first in the next round cannot disturb this one: `arrived` is reset before the round changes, and nobody can
// arrive again before it changes; a mark that comes too late wakes somebody in vain. Those who wait look at the round
// alone, which lies apart: who arrives meanwhile does not have to share the count with them. tests/models/barrier.pml
// checks the protocol.
//
// In a cancelled region nobody waits: some members may be at its end already (cancel.h). Whoever cancels changes the
// round too, after the flag; so one that waits looks at the round alone, and one that arrives and sees the new round
// sees the flag. What they leave in `arrived` is put in order when the region is closed.
//
// Rejected: sums of all seats' counts, made by each member that has found no task; they took the lines that the others
// write with each task, and the release a lock, since several could find out at the same time.
#include "faces/openmp/team_barrier.h"

#include "faces/openmp/single.h"
#include "faces/openmp/task_wait.h"

namespace weft::openmp {
namespace {

void begin_round(Team& team, std::uint32_t round) {
  if (team.worksharing_cancelled.load(std::memory_order_relaxed)) [[unlikely]]
    team.worksharing_cancelled.store(false, std::memory_order_relaxed);
  team.arrived.store(0, std::memory_order_relaxed);
  team.round.store(round + 1, std::memory_order_release);
}

// What the word has not been told of the tasks that the member has created and completed.
inline std::uint64_t untold_tasks(const Member& member) {
  TaskSeat* seat = member.seat;
  if (seat == nullptr) return 0;
  const std::uint64_t pending =
      seat->created.load(std::memory_order_relaxed) - seat->completed.load(std::memory_order_relaxed);
  const std::uint64_t untold = pending - seat->told;
  seat->told = pending;
  return untold;
}

// True: all is complete, and the next round has begun.
[[gnu::always_inline]] inline bool arrive(Team& team, const Member& member, std::uint32_t round) {
  const std::uint64_t more = Arrival::member + untold_tasks(member) * Arrival::task;
  const std::uint64_t word = team.arrived.fetch_add(more, std::memory_order_acq_rel) + more;
  if (!Arrival::completes(word, team.size)) return false;
  begin_round(team, round);
  if ((word & Arrival::somebody_sleeps) != 0) wake_all_waiters(team.tasks);
  return true;
}

struct BarrierWait {
  Team& team;
  const Member& member;
  std::uint32_t round;
  bool arrived = true;
  bool over() const { return team.round.load(std::memory_order_acquire) != round; }
  const Task* only_below() const { return nullptr; }
  void runs_task() {
    if (!arrived || over()) return;
    arrived = false;
    team.arrived.fetch_sub(Arrival::member, std::memory_order_relaxed);
  }
  bool finds_no_task() {
    if (arrived) [[likely]]
      return false;
    arrive_anew();
    return true;
  }
  [[gnu::noinline]] void arrive_anew() {
    arrived = true;
    arrive(team, member, round);
  }
  bool arm(TaskWaiter&) const {
    const std::uint64_t word = team.arrived.fetch_or(Arrival::somebody_sleeps, std::memory_order_acq_rel);
    return Arrival::members(word) != 0 && !Arrival::completes(word, team.size);
  }
};

// Whether the round is over within a moment.
[[gnu::noinline]] bool soon_over(const Team& team, const BarrierWait& wait) {
  constexpr unsigned looks = 16;
  for (unsigned look = 0; look < looks; ++look) {
    if (wait.over()) return true;
    if (!keep_looking(team, look)) return false;
  }
  return false;
}

}  // namespace

bool tell_barrier_of_completion(Team& team) {
  const std::uint64_t word = team.arrived.fetch_sub(Arrival::task, std::memory_order_acq_rel) - Arrival::task;
  if (!Arrival::completes(word, team.size)) return false;
  begin_round(team, team.round.load(std::memory_order_relaxed));
  return true;
}

void team_barrier(Member& member) {
  Team& team = *member.team;
  if (team.size == 1 && !team.tasks.used.load(std::memory_order_relaxed)) {
    if (team.worksharing_cancelled.load(std::memory_order_relaxed)) [[unlikely]]
      team.worksharing_cancelled.store(false, std::memory_order_relaxed);
    return;
  }
  if (member.seat != nullptr) run_own_tasks(member);
  const std::uint32_t round = team.round.load(std::memory_order_acquire);  // before the flag: see cancel()
  if (is_cancelled(team)) [[unlikely]]
    return settle_copies(member);
  if (arrive(team, member, round)) return;
  BarrierWait wait{team, member, round};
  if (team.tasks.used.load(std::memory_order_relaxed) && soon_over(team, wait)) return;
  wait_for(member, wait);
  if (is_cancelled(team)) [[unlikely]]
    settle_copies(member);
}

}  // namespace weft::openmp
