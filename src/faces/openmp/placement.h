// Which place each member of a team has (OpenMP 5.2, section 10.1.3), and who starts it. All of it is
// off, and region.cpp asks for it with one branch per region, unless there are places or
// OMP_DISPLAY_AFFINITY is true.
#pragma once

#include <cstdint>

#include "base/relaxed.h"
#include "faces/openmp/icv.h"

namespace weft::core {
struct Unit;
struct Worker;
}  // namespace weft::core

namespace weft::openmp {

struct Team;
struct Member;

/// How the members of a team are placed.
struct Placement {
  ProcBind policy = ProcBind::primary;
  unsigned first = 0;  // the place partition of the thread that opened the region: [first, first + count)
  unsigned count = 1;
  unsigned place = 0;  // where that thread is; no_place
};

inline constexpr unsigned no_place = ~0U;

/// The place of a member, and the place partition that its own regions are placed in.
struct MemberPlace {
  unsigned place;  // or no_place
  unsigned first;
  unsigned count;
};

MemberPlace place_in(const Placement& placement, unsigned size, unsigned number);
MemberPlace place_of(const Member& member);

/// There are places, or something is to be displayed, or there may be a tool; set when the library is loaded.
extern bool attends_regions;
/// There may be something to do, beyond what every region needs, when a region is closed.
extern base::Relaxed<bool> attends_ends;
/// Sets them, and what else says whether the rare paths are taken.
void attend_as_settings_say();

/// What a proc_bind clause says of the region that the calling thread opens next.
void push_proc_bind(unsigned policy);

/// A region has been prepared, and its master has become member 0.
void attend_region(Team& team);
/// A team at level 0 begins.
void attend_initial_team(Team& team);
/// It is that of a target region of gcc's code: its partition is all places, as with libgomp, and its place stays.
void attend_target_team(Team& team);

/// Whether the master of the team has a place only for as long as the region lasts.
bool holds_master(const Team& team);
/// Such a region has been closed: who opened it is free again.
void let_master_go(core::Worker& worker);

/// Binds the calling worker's KLT to the place of the member that the unit is, and that it goes on with. There are
/// places.
void bind_to_place(core::Worker& worker, core::Unit& unit);
/// In a forked child: what forked is the root of the calling KLT now, which was perhaps one of weft's before.
void place_forked(core::Worker& self, bool was_root);
/// The calling KLT begins to carry the worker, of weft's. There are places.
void bind_new_klt(core::Worker& worker);

}  // namespace weft::openmp
