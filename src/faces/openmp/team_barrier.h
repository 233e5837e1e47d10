// The barrier of a team; the protocol is at the head of team_barrier.cpp.
#pragma once

#include "faces/openmp/team.h"

namespace weft::openmp {

/// The calling member waits until all of its team are there, and no task of theirs is left.
void team_barrier(Member& member);
/// A task was completed by one who is no member. True: that was the last that the barrier has waited for, and those who
/// sleep there are to be woken. With the lock of the team's tasks held.
bool tell_barrier_of_completion(Team& team);

}  // namespace weft::openmp
