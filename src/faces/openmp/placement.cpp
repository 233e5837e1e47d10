// A member's place is not stored: it follows from the member's number, the size of its team, and what the
// team was opened with. Members are started by whatever worker claims them; the worker's KLT then goes to
// the member's place, unless it is there already. It goes there again after a barrier, a critical region or an
// ordered region, whose wait may have moved the member to another worker. After a wait elsewhere (for tasks, for
// a lock) a member may run in the place of another until the next of those. With as many members as workers each worker
// finds one, and is not moved any more than members change workers.
//
// A member's body is reached through attended_body(), which the team gets as its function: so members
// of teams that nobody places cost nothing.
//
// Rejected: a share for each place that only its workers may claim from. It saves moves between regions,
// but a place whose worker is busy would hold back members that another place's worker could run, and
// workers that find only others' members would have to sleep without losing a wake-up.
#include "faces/openmp/placement.h"

#include "core/scheduler.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/places.h"
#include "faces/openmp/root.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"
#include "os/cpus.h"

namespace weft::openmp {

constinit bool attends_regions = false;

namespace {

/// `items` dealt to `boxes` in order, as evenly as can be; the first ones get one more.
struct EvenDeal {
  unsigned each;
  unsigned longer;  // boxes that get each + 1

  EvenDeal(unsigned items, unsigned boxes) : each(items / boxes), longer(items % boxes) {}
  unsigned first_of(unsigned box) const { return box * each + (box < longer ? box : longer); }
  unsigned count_of(unsigned box) const { return each + (box < longer ? 1 : 0); }
  unsigned box_of(unsigned item) const {
    const unsigned in_longer = longer * (each + 1);
    return item < in_longer ? item / (each + 1) : longer + (item - in_longer) / each;
  }
};

// More members than places: each place gets as many with consecutive numbers, in order; of those left over, one each.
unsigned steps_from_primary(const Placement& placement, unsigned size, unsigned number) {
  if (size <= placement.count) return number;
  const unsigned each = size / placement.count;
  const unsigned dealt = each * placement.count;
  return number < dealt ? number / each : number - dealt;
}

MemberPlace next_places(const Placement& placement, unsigned size, unsigned number) {
  const unsigned steps = steps_from_primary(placement, size, number);
  const unsigned place = placement.first + (placement.place - placement.first + steps) % placement.count;
  return {place, placement.first, placement.count};
}

MemberPlace spread_places(const Placement& placement, unsigned size, unsigned number) {
  if (size > placement.count) {
    const unsigned place = next_places(placement, size, number).place;
    return {place, place, 1};
  }
  const EvenDeal parts(placement.count, size);
  const unsigned part = (parts.box_of(placement.place - placement.first) + number) % size;
  const unsigned first = placement.first + parts.first_of(part);
  return {number == 0 ? placement.place : first, first, parts.count_of(part)};
}

std::uint64_t hash_of_places(const Team& team) {
  std::uint64_t hash = 0;
  for (unsigned number = 0; places.in_use() && number < team.size; ++number)
    hash = (hash ^ place_in(team.placement, team.size, number).place) * 0x9e3779b97f4a7c15U;
  return hash;
}

// What the lines say of an outermost team has changed; those of inner teams come every time, as libgomp writes them.
bool must_display(const Team& team) {
  if (!global_icv.display_affinity || team.size == 1) return false;
  Root* root = cache_of(core::worker_here()).root;
  if (team.standing != Standing::outermost || root == nullptr) return true;
  const DisplayedTeam now{team.size, hash_of_places(team)};
  if (now == root->displayed) return false;
  root->displayed = now;
  return true;
}

void attended_body(void* argument) {
  Team& team = *static_cast<Team*>(argument);
  if (places.in_use()) go_to_place(this_member());
  if (team.displays) display_affinity(nullptr, 0);
  team.attended_function(team.attended_data);
}

void place_team(Team& team, WorkerCache& cache) {
  Member& master = team.master;
  const MemberPlace opener = place_of(*master.parent);
  ProcBind policy = icv_of(*master.parent).bind;
  if (cache.proc_bind_clause != ProcBind::false_) {
    policy = cache.proc_bind_clause;
    cache.proc_bind_clause = ProcBind::false_;
    if (static_cast<int>(team.level) >= settings.bind_levels) team.icv.bind = master.implicit.icv.bind = policy;
  }
  team.placement = {policy, opener.first, opener.count, opener.place};
  team.started_in_turn = policy != ProcBind::primary && team.size > opener.count;
}

}  // namespace

MemberPlace place_in(const Placement& placement, unsigned size, unsigned number) {
  switch (placement.policy) {
    case ProcBind::true_:
    case ProcBind::close:
      return next_places(placement, size, number);
    case ProcBind::spread:
      return spread_places(placement, size, number);
    default:
      return {placement.place, placement.first, placement.count};
  }
}

MemberPlace place_of(const Member& member) {
  return place_in(member.team->placement, member.team->size, member.number);
}

unsigned member_in_turn(const Placement& placement, unsigned size, unsigned turn) {
  const unsigned each = size / placement.count;
  if (turn >= each * placement.count) return turn;
  return turn % placement.count * each + turn / placement.count;
}

void push_proc_bind(unsigned policy) {
  if (places.in_use()) cache_of(core::worker_here()).proc_bind_clause = static_cast<ProcBind>(policy);
}

void attend_region(Team& team) {
  if (places.in_use()) place_team(team, cache_of(core::worker_here()));
  team.displays = must_display(team);
  team.attended_function = team.function;
  team.attended_data = team.data;
  team.function = attended_body;
  team.data = &team;
  if (team.displays) display_affinity(nullptr, 0);  // member 0 does not come to attended_body()
}

void attend_initial_team(Team& team) {
  if (!places.in_use()) return;
  const Member* parent = team.master.parent;
  const MemberPlace at = parent != nullptr ? place_of(*parent) : MemberPlace{0, 0, places.count};
  team.placement = {ProcBind::primary, at.first, at.count, at.place};
  if (parent == nullptr) go_to_place(team.master);
}

void go_to_place(const Member& member) {
  if (!places.in_use() || places.foreign) return;
  const unsigned place = place_of(member).place;
  core::Worker& worker = core::worker_here();
  WorkerCache& cache = cache_of(worker);
  const int klt = worker.klt.load(std::memory_order_relaxed);
  if (cache.klt_in_place == klt && cache.place == place) return;
  // A mask that the program narrowed since then may leave nothing of the place: the KLT stays where it is.
  if (!os::bind_this_klt(places.sets[place])) return;
  cache.klt_in_place = klt;
  cache.place = place;
}

void go_to_own_place() { go_to_place(this_member()); }

}  // namespace weft::openmp
