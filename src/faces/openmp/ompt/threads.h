// The threads that a tool sees (records.h): where they come from, their begin and their end.
#pragma once

#include "faces/openmp/ompt/records.h"

namespace weft::openmp::ompt {

/// The thread of the program that the root is.
Thread& thread_of_root();

/// The threads of a region that is being opened, by number, the opener's first. They stay the region's until
/// give_threads_back(). The team's members are to run on their identities.
void take_threads(Region& region, Team& team, Thread& opener);
void give_threads_back(Region& region);

/// The calling member is the thread: if it is the first that is, the thread begins.
void begin_as(Thread& thread);

/// The thread that is being ended by the caller, on its behalf; nullptr: none.
Thread* thread_that_ends();

/// Those that an initial team has kept for the regions that it opens; it ends.
void give_kept_threads_back(Team& initial);

/// The threads of the root's outermost teams end; their identities are still there.
void end_threads_of_root(core::Worker& worker, Root& root);

/// One of them.
void end_thread(core::Worker& worker, Thread& thread);
/// In a forked child: threads but the caller's are gone, and so are their identities. Whoever has forked.
void forget_all_threads();
/// Those of the root that has forked.
void forget_threads_of_root(Root& root);
/// Those that a team around the caller has taken from the pool.
void forget_threads_of_team(Team& team);

/// All that are not in a region.
void end_all_threads();

}  // namespace weft::openmp::ompt
