#include "faces/openmp/cancel.h"

#include "faces/openmp/task_wait.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {
namespace {

// The group that the program's construct made: one made for the reductions of a worksharing construct stands for the
// one around it.
Taskgroup* own_group(const Task& task) {
  Taskgroup* group = task.group;
  return group != nullptr && group->of_worksharing && group->outer != nullptr ? group->outer : group;
}

bool team_cancelled(const Team& team) { return team.cancelled.load(std::memory_order_acquire); }

}  // namespace

bool is_cancelled(const Team& team, const Task& task) {
  if (team_cancelled(team)) return true;
  for (const Taskgroup* group = task.group; group != nullptr; group = group->outer)
    if (group->cancelled.load(std::memory_order_acquire)) return true;
  return false;
}

bool cancellation_point(Member& member, Cancellable region) {
  if (!settings.cancellation) return false;
  const Team& team = *member.team;
  if (region == Cancellable::worksharing) return team.worksharing_cancelled.load(std::memory_order_acquire);
  if (region == Cancellable::taskgroup) {
    const Taskgroup* group = own_group(*member.task);
    if (group != nullptr && group->cancelled.load(std::memory_order_acquire)) return true;
  }
  return team_cancelled(team);
}

bool cancel(Member& member, Cancellable region) {
  if (!settings.cancellation) return false;
  Team& team = *member.team;
  switch (region) {
    case Cancellable::worksharing:
      team.worksharing_cancelled.store(true, std::memory_order_release);
      break;
    case Cancellable::taskgroup:
      if (Taskgroup* group = own_group(*member.task); group != nullptr)
        group->cancelled.store(true, std::memory_order_release);
      break;
    case Cancellable::parallel:
      // Partner: those who wait look at the flag after they have shown themselves.
      team.cancelled.store(true, std::memory_order_seq_cst);
      team.round.fetch_add(1, std::memory_order_release);  // ends the barrier; acquired there
      wake_all_waiters(team.tasks);
      team.workshares.wake_all();
      break;
  }
  return true;
}

bool cancellable_barrier(Member& member) {
  team_barrier(member);
  return settings.cancellation && team_cancelled(*member.team);
}

}  // namespace weft::openmp
