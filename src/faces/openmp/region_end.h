// How a region comes to be complete: who holds it open, and the master's wait for them.
#pragma once

#include <atomic>
#include <cstdint>

#include "faces/openmp/task_pool.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

/// The master's wait at the end of a region that uses tasks (wait_for, task_wait.h): an implicit barrier.
struct RegionEnd {
  Team& team;
  bool over() const { return Pending::members(team.pending.load(std::memory_order_acquire)) == 0 && quiescent(team); }
  const Task* only_below() const { return nullptr; }
  bool arm(TaskWaiter& waiter) {
    team.end_waiter = &waiter;
    return true;
  }
  void disarm() { team.end_waiter = nullptr; }
};

/// Tasks are in use from now on (Pending::tasks_in_use): the master may sleep at the end of the region until the
/// members are done, and is to run tasks instead.
void wake_master_for_tasks(Team& team);

/// So many of those who hold the team open are done with it (Pending::holder).
void drop_holders(Team& team, std::uint64_t count);

/// For one who is no member: as long as a task of the team is pending, holds it open until let_close(). False: the team
/// has no tasks (any more).
bool hold_open(Team& team);
void let_close(Team& team);

/// `count` members starting at `first` are done; nothing of theirs touches the team after this.
void members_done(Team& team, unsigned first, unsigned count);
/// The same where it is the team's master, done with its own part, that has run them.
inline void members_done_by_master(Team& team, unsigned first, unsigned count) {
  // Nobody else is left who could write the word, or make a task that somebody would take a seat for.
  if (team.pending.load(std::memory_order_acquire) == Pending::of_members(count)) [[likely]]
    team.pending.store(0, std::memory_order_relaxed);
  else
    members_done(team, first, count);
}
/// One that ran tasks on the seat of a member that is done leaves it.
void helper_done(Team& team, unsigned number);

/// Whether the seat is one whose member is done, and that nobody occupies. What that member did was before.
inline bool is_vacant(const Team& team, unsigned number) {
  return (team.vacant.items()[number / 64].load(std::memory_order_acquire) >> number % 64 & 1U) != 0;
}
/// Whether there is such a seat.
bool any_vacant(const Team& team);
/// The number of such a seat, now the caller's; 0 (the master's, never vacant) if there is none.
unsigned take_vacant(Team& team);

}  // namespace weft::openmp
