// How the members of a team but the master come to run, and how idle workers help with its tasks.
#pragma once

#include "core/pool/share.h"
#include "core/worker.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

/// What preemption and the experiment ask of the way in which members run. Before the first region.
void choose_members(core::Preemption kind);

/// That of a team whose members have no places.
extern Dispatch usual_dispatch;

/// For the master, which has done its own part: claims and runs members until there are none left.
void run_members_left(core::Worker& worker, Team& team);

/// Makes each member a unit that is ready, in the pool of its place or of the calling worker.
void push_members(Team& team);

/// Share::take: what an idle worker takes from a team: members, tasks on a vacant seat, or a member that sleeps where
/// it could run tasks.
bool take_from_team(core::Share& share, core::Worker& worker);
/// Share::run.
void run_members_of(core::Share& share, core::Worker& worker, core::Share::Run run);
/// Share::wants_help.
bool wants_help(const core::Share& share);
/// Share::wants_opener.
bool wants_master(const core::Share& share);

}  // namespace weft::openmp
