// Teams set aside. A late thief may look at a team whenever it likes (team.h): so a team's memory stays a team's, and
// what such a thief reads keeps its values. What only those of the region touch is built anew; the array of vacancies
// too, but not in a team that has ever had tasks, for helpers alone look at it from outside. The list of the process is
// guarded by its lock.
#include "faces/openmp/experiment.h"

#include <cstdio>
#include <new>

#include "core/spinlock.h"
#include "faces/openmp/root.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

const char* const names[] = {"kept-teams", "own-lists",    "borrowed-stacks", "range",
                             "runs",       "master-helps", "place-pools"};
constexpr int name_count = 7;

unsigned switched_off = 0;

core::Spinlock lock;
Team* teams_of_process = nullptr;

constexpr unsigned bit_of(Optimisation which) { return 1U << static_cast<unsigned>(which); }

void build_anew(Team& team) {
  new (&team.master) Member;
  team.workshares.discard();
  new (&team.workshares) WorkshareRing;
  team.icv = Icv{};
  if (team.tasks.seats.capacity() == 0) team.vacant.clear();
}

}  // namespace

bool is_off(Optimisation which) { return (switched_off & bit_of(which)) != 0; }

void show_experiment() {
  const char* separator = "";
  for (int index = 0; index < name_count; ++index) {
    if ((switched_off & 1U << static_cast<unsigned>(index)) == 0) continue;
    fprintf(stderr, "%s%s", separator, names[index]);
    separator = ",";
  }
}

bool read_experiment(base::ValueReader& value) {
  unsigned off = 0;
  do {
    const int index = base::take_one_of(value, names, name_count);
    if (index == name_count) return false;
    off |= 1U << static_cast<unsigned>(index);
  } while (value.take(','));
  if (!value.at_end()) return false;
  switched_off = off;
  return true;
}

bool sets_teams_aside() { return is_off(Optimisation::kept_teams) || is_off(Optimisation::own_lists); }

void set_closed_teams_aside(WorkerCache& cache) {
  while (Team* team = cache.free_teams) {
    cache.free_teams = team->next;
    if (is_off(Optimisation::own_lists)) {
      core::SpinGuard guard(lock);
      team->next = teams_of_process;
      teams_of_process = team;
    } else {
      team->next = cache.teams_set_aside;
      cache.teams_set_aside = team;
    }
  }
}

Team* take_team_set_aside(WorkerCache& cache) {
  if (!sets_teams_aside()) return nullptr;
  Team* team = nullptr;
  if (is_off(Optimisation::own_lists)) {
    core::SpinGuard guard(lock);
    team = teams_of_process;
    if (team != nullptr) teams_of_process = team->next;
  } else {
    team = cache.teams_set_aside;
    if (team != nullptr) cache.teams_set_aside = team->next;
  }
  if (team != nullptr && is_off(Optimisation::kept_teams)) build_anew(*team);
  return team;
}

void forget_teams_set_aside() {
  lock.unlock();
  teams_of_process = nullptr;
}

}  // namespace weft::openmp
