#include "faces/openmp/single.h"

#include "faces/openmp/team.h"

namespace weft::openmp {

bool first_at_single(Member& member) {
  if (member.team->size == 1) return true;
  bool first = false;
  Workshare& slot = enter_construct(member, &first);
  if (first) publish_construct(slot);
  leave_construct(member, slot);
  return first;
}

void hand_copies_over(Member& member, void* data) {
  member.team->copied = data;
  team_barrier(member);
}

void* wait_for_copies(Member& member) {
  team_barrier(member);
  return member.team->copied;
}

}  // namespace weft::openmp
