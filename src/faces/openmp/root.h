// What a thread of the program owns as an OpenMP thread, and what each worker keeps for the regions
// that are opened on it.
#pragma once

#include <cstdint>

#include "core/identities.h"
#include "core/run_lengths.h"
#include "core/worker.h"
#include "faces/openmp/blocks.h"
#include "faces/openmp/dialect.h"
#include "faces/openmp/member.h"
#include "faces/openmp/team.h"

namespace weft::openmp {

/// Identities of the members of the teams that a root opens, or an initial team, by number. They last as long as that,
/// so that threadprivate variables persist from region to region.
struct Seats {
  os::Identity** identities = nullptr;
  unsigned count = 0;  // entries; entry 0 (the root itself) is unused
  os::Identity* identity(unsigned number) const { return identities[number]; }
};

namespace ompt {
struct Thread;
}

inline constexpr unsigned counted_levels = 8;

/// What --report adds up.
struct RegionCounters {
  std::uint64_t regions[counted_levels] = {};  // by level, the last entry for all deeper ones
  std::uint64_t members = 0;
  std::uint64_t tasks = 0;
};

/// A thread of the program outside any region: member 0 of a team of its own.
struct Root {
  Team team;  // first: let_root_end() finds the root by it
  Seats seats;
  ompt::Thread** threads = nullptr;  // that a tool sees, by number; entry 0 is unused
  unsigned thread_count = 0;
  bool ended = false;  // its thread; changes with the lock of the team's tasks held
};

struct WorkerCache {
  Team* free_teams = nullptr;
  Root* root = nullptr;
  RegionCounters counters;
  BlockCache blocks;
  core::RunLengths run_lengths;     // of members
  Dialect opener = Dialect::gnu;    // of the region opened next; noted only where affinity is displayed
  Team* teams_set_aside = nullptr;  // only for the experiment (experiment.h)
  // Only where there are places.
  unsigned bound_to = 0;  // the place where its KLT was bound last,
  int bound_klt = 0;      // and which KLT that was
};

/// The unit goes on as the member. A handler of the program's may ask at any instruction what it is: the member is
/// complete before, and the one that it was is left alone until then.
inline void become_member(core::Unit& unit, Member& member) {
  auto& whole = static_cast<core::WholeUnit&>(unit);  // OpenMP's units are all such
  const core::Share* scope = &member.team->share;     // not read again after the fence: that took 3 ns
  std::atomic_signal_fence(std::memory_order_seq_cst);
  whole.details.face = &member;
  whole.scope = scope;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// When weft starts: of the member that nobody is (member_between_units()).
void make_nobodys_team();

WorkerCache& make_cache(core::Worker& worker);
inline WorkerCache& cache_of(core::Worker& worker) {
  return worker.face != nullptr ? *static_cast<WorkerCache*>(worker.face) : make_cache(worker);
}

/// Ends the threads that the worker's root has kept for its regions, and their threadprivate variables with them.
/// `awaited`: as some of these.
void end_seats(core::Worker& worker, os::AwaitedEnds* awaited = nullptr);

/// These, with at least as many as a team of `size` needs.
Seats* grow_seats(core::Worker& worker, Seats& seats, unsigned size);
inline Seats* seats_of_size(core::Worker& worker, Seats& seats, unsigned size) {
  return seats.count >= size ? &seats : grow_seats(worker, seats, size);
}

/// The seats of the worker's root for a team of `size`; nullptr where identities are switched off.
inline Seats* seats_for(core::Worker& worker, unsigned size) {
  if (!core::identities_enabled) return nullptr;
  Root* root = cache_of(worker).root;
  return root != nullptr ? seats_of_size(worker, root->seats, size) : nullptr;
}
/// Those of an initial team.
Seats* seats_within(core::Worker& worker, Team& initial, unsigned size);
/// The initial team ends.
void leave_seats(core::Worker& worker, Team& initial);

/// let_close() for the team of a root, which may have ended meanwhile: then the last to call this frees it.
void let_root_end(Team& team);

/// The root's thread, or the process, is about to end: tasks that were made outside regions run, as far as they can.
void run_tasks_left(core::Worker& worker);

// Hooks for the core.
void root_ends(core::Worker& worker);
void start_afresh();
void forked(core::Worker& self, const core::Worker& before, const core::Unit* what);

}  // namespace weft::openmp
