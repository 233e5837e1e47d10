#include "faces/openmp/cancel.h"

#include "core/find.h"
#include "core/scheduler.h"
#include "faces/openmp/single.h"
#include "faces/openmp/task_wait.h"
#include "faces/openmp/team_barrier.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {
namespace {

// The group that the program's construct made: one made for the reductions of a worksharing construct stands for the
// one around it.
Taskgroup* own_group(const Task& task) {
  Taskgroup* group = task.group;
  return group != nullptr && group->of_worksharing && group->outer != nullptr ? group->outer : group;
}

}  // namespace

bool is_cancelled(const Team& team, const Task& task) {
  if (is_cancelled(team)) return true;
  // Bug: those around were looked at too, so that a task that had begun got nothing done in groups of its own.
  const Taskgroup* group = own_group(task);
  return group != nullptr && group->cancelled.load(std::memory_order_acquire);
}

namespace {

// A member that polls: who is to cancel may be waiting for its worker, or for its KLT. To look for that, and to go,
// costs more than many polls. (The watchdog would find that nothing goes on; it needs longer, and may be off.)
[[gnu::noinline]] void let_others_go_on() {
  const core::Worker& worker = *core::this_worker();
  if (core::has_local_work(worker) || core::any_work(worker)) core::yield();
}

bool polled_in_vain(Member& member) {
  constexpr std::uint32_t polls_before_look = 1U << 14U;
  if (++member.polls % polls_before_look == 0) let_others_go_on();
  return false;
}

bool is_to_end(const Member& member, Cancellable region) {
  const Team& team = *member.team;
  if (region == Cancellable::worksharing) return team.worksharing_cancelled.load(std::memory_order_acquire);
  return region == Cancellable::taskgroup ? is_cancelled(team, *member.task) : is_cancelled(team);
}

}  // namespace

bool cancellation_point(Member& member, Cancellable region) {
  if (!settings.cancellation) return false;
  return is_to_end(member, region) || polled_in_vain(member);
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
      mark_cancelled(team);
      team.round.fetch_add(1, std::memory_order_release);  // ends the barrier; acquired there
      wake_all_waiters(team.tasks);
      team.workshares.wake_all();
      break;
  }
  return true;
}

bool cancellable_barrier(Member& member) {
  team_barrier(member);
  return settings.cancellation && is_cancelled(*member.team);
}

}  // namespace weft::openmp
