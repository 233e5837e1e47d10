// Parallel regions: opened and closed by the thread that is their member 0. See region.cpp for how.
#pragma once

#include "faces/openmp/team.h"

namespace weft::openmp {

/// Opens a region of `size` members; the calling thread, which is `opener`, becomes member 0 of it.
Team& open_region(Member& opener, unsigned size, void (*function)(void*), void* data);

/// As open_region, but holds the members back until start_members(): for combined constructs.
Team& prepare_region(Member& opener, unsigned size, void (*function)(void*), void* data);
void start_members(Team& team);
/// The same, of members that keep no identities from region to region, whatever region it is.
Team& prepare_region_without_seats(Member& opener, unsigned size, void (*function)(void*), void* data);

/// Member 0 of the team, which the calling thread is, is done: completes the region and goes back to the member that
/// opened it.
void close_region(Team& team);

/// What close_region() does but for what a tool is told of.
void complete_region(Team& team);

/// The calling thread goes on as the only thread of a team at level 0, with these ICVs.
Team& open_initial_team(const Icv& icv);
/// Goes back to what it was before.
void close_initial_team();

/// How many members a region that asks for `requested` (0: the ICV) gets. `useful` bounds it where
/// the number may be adjusted (sections); 0: no bound.
unsigned resolve_size(Member& member, unsigned requested, unsigned useful);

int ancestor_number(const Member& member, int level);
int ancestor_team_size(const Member& member, int level);

}  // namespace weft::openmp
