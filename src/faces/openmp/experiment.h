// WEFT_EXPERIMENT: optimisations of regions that can be switched off, for the experiment of docs/design/steps.md and
// for nothing else. Settled when the library is loaded, and on the way of a region nobody asks for it: what is switched
// off takes the rare ways that are there for others (members that are units; regions that are attended to,
// placement.h), or a number is another one.
#pragma once

#include <cstdint>

#include "base/environment.h"

namespace weft::openmp {

struct Team;
struct WorkerCache;

enum class Optimisation : std::uint8_t {
  kept_teams,       // a team serves one region after the other as it is
  own_lists,        // closed teams are kept by the worker that closed them, not by the process under a lock
  borrowed_stacks,  // a member is called on the stack of whoever runs it; needs the range
  range,            // members are numbers until somebody starts them
  runs,             // they are claimed several at a time, if they are short
  master_helps,     // who opened the region starts what nobody else has started
  place_pools,      // members that are bound wait in the pool of their place
};

bool is_off(Optimisation which);

inline constexpr const char* a_list_of_optimisations =
    "a list of kept-teams, own-lists, borrowed-stacks, range, runs, master-helps and place-pools";

/// Those that are off.
void show_experiment();

/// WEFT_EXPERIMENT's value.
bool read_experiment(base::ValueReader& value);

/// Whether closed teams are kept another way than by the worker as they are.
bool sets_teams_aside();
/// The worker has closed teams.
void set_closed_teams_aside(WorkerCache& cache);
/// One that was set aside, as new as is wanted; nullptr: none, as ever without the experiment.
Team* take_team_set_aside(WorkerCache& cache);
/// In a forked child.
void forget_teams_set_aside();

}  // namespace weft::openmp
