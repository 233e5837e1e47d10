// Which place each member of a team has (OpenMP 5.2, section 10.1.3), and that it runs there. All of it is
// off, and region.cpp asks for it with one branch per region, unless there are places or
// OMP_DISPLAY_AFFINITY is true.
#pragma once

#include <cstdint>

#include "faces/openmp/icv.h"

namespace weft::openmp {

struct Team;
struct Member;

/// How the members of a team are placed.
struct Placement {
  ProcBind policy = ProcBind::primary;
  unsigned first = 0;  // the place partition of the thread that opened the region: [first, first + count)
  unsigned count = 0;
  unsigned place = 0;  // where that thread is
};

/// The place of a member, and the place partition that its own regions are placed in.
struct MemberPlace {
  unsigned place;
  unsigned first;
  unsigned count;
};

MemberPlace place_in(const Placement& placement, unsigned size, unsigned number);
MemberPlace place_of(const Member& member);

/// Of a team with more members than places, the member to be started as the `turn`-th, so that those
/// started one after the other are in different places.
unsigned member_in_turn(const Placement& placement, unsigned size, unsigned turn);

/// There are places, or something is to be displayed; set when the library is loaded.
extern bool attends_regions;

/// What a proc_bind clause says of the region that the calling thread opens next.
void push_proc_bind(unsigned policy);

/// A region has been prepared, and its master has become member 0.
void attend_region(Team& team);
/// A team at level 0 begins.
void attend_initial_team(Team& team);

/// Has the calling KLT run where its member's place is.
void go_to_place(const Member& member);
void go_to_own_place();

/// After a wait, which may have moved the calling member to another worker.
inline void stay_in_place() {
  if (attends_regions) [[unlikely]]
    go_to_own_place();
}

}  // namespace weft::openmp
