// A member's place is not stored: it follows from the member's number, the size of its team, and what the
// team was opened with.
//
// Where there are places, members run nowhere else. A region's members are no numbers to be claimed by
// anybody then, but units in the pool of their place (core/place_pools.h, region.cpp), whose workers alone start and
// resume them; a worker's KLT is bound to the place of what it goes on with, which changes only where places
// share a worker. The master stays where it is: a region places its member 0 at the place of who opens it.
//
// Rejected: binding the KLT anew for every member that anybody starts or resumes. An empty region of 2
// members took more than a millisecond: the CPU that the KLT was moved to had another one spinning on it, and the
// kernel was in no hurry to change them. And to let each worker claim members of its own place first, and others if
// there are none: an idle worker is quicker than the one that wakes up, so members ran in the place of others.
#include "faces/openmp/placement.h"

#include "core/scheduler.h"
#include "faces/openmp/affinity_display.h"
#include "faces/openmp/even_deal.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/places.h"
#include "faces/openmp/root.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"
#include "os/cpus.h"

namespace weft::openmp {

constinit bool attends_regions = false;
static bool attends_members = false;

namespace {

unsigned cores_of(const Placement& placement) {
  const unsigned cores = placement.count / places.per_core;
  return cores != 0 ? cores : 1;
}

// More members than places: each place gets as many with consecutive numbers, in order; of those left over, one each.
unsigned steps_from_primary(const Placement& placement, unsigned size, unsigned number) {
  if (size <= placement.count) return number;
  const unsigned each = size / placement.count;
  const unsigned dealt = each * placement.count;
  return number < dealt ? number / each : number - dealt;
}

MemberPlace next_places(const Placement& placement, unsigned size, unsigned number) {
  unsigned place = placement.place + steps_from_primary(placement, size, number);
  if (place >= placement.first + placement.count) place -= placement.count;
  return {place, placement.first, placement.count};
}

// Bound as KMP_AFFINITY says: all members in the whole partition, beginning where the opener is.
MemberPlace places_in_turn(const Placement& placement, unsigned size, unsigned number) {
  unsigned steps = number;
  if (places.turn == Turn::balanced) {
    const EvenDeal members(size, cores_of(placement));
    const unsigned core = members.box_of(number);
    steps = core * places.per_core + (number - members.first_of(core)) % places.per_core;
  }
  const unsigned from_first = placement.place - placement.first + steps % placement.count;
  return {placement.first + from_first % placement.count, placement.first, placement.count};
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
  team.dispatch = Dispatch::at_places;
}

}  // namespace

MemberPlace place_in(const Placement& placement, unsigned size, unsigned number) {
  switch (placement.policy) {
    case ProcBind::true_:
      if (places.turn != Turn::blocks) return places_in_turn(placement, size, number);
      [[fallthrough]];
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

void push_proc_bind(unsigned policy) {
  if (places.in_use()) cache_of(core::worker_here()).proc_bind_clause = static_cast<ProcBind>(policy);
}

void attend_as_settings_say() {
  attends_members = places.in_use() || global_icv.display_affinity;
  attends_regions = attends_members || ompt::watched;
  settings.attends_tasks = settings.cancellation || ompt::watched;
}

void attend_region(Team& team) {
  if (ompt::watched) ompt::region_opens(team);
  if (!attends_members) return;
  if (places.in_use()) place_team(team, cache_of(core::worker_here()));
  if (global_icv.display_affinity) attend_displayed_region(team);
}

void attend_initial_team(Team& team) {
  if (ompt::watched) ompt::initial_team_opens(team);
  if (global_icv.display_affinity) attend_displayed_initial_team(team);
  if (!places.in_use()) return;
  const Member* parent = team.master.parent;
  const MemberPlace at = parent != nullptr ? place_of(*parent) : MemberPlace{places.initial, 0, places.count};
  team.placement = {ProcBind::primary, at.first, at.count, at.place};
  if (parent != nullptr) return;
  core::Worker& worker = core::worker_here();
  worker.root_unit.flags.fetch_or(core::UnitFlag::placed, std::memory_order_relaxed);
  bind_to_place(worker, worker.root_unit);
}

void bind_to_place(core::Worker& worker, core::Unit& unit) {
  if (places.foreign) return;
  const unsigned place = place_of(*static_cast<const Member*>(core::details(unit).face)).place;
  const int klt = worker.klt.load(std::memory_order_relaxed);
  WorkerCache& cache = cache_of(worker);
  if (cache.bound_to == place && cache.bound_klt == klt) return;
  // A mask that the program narrowed meanwhile may leave nothing of the place: the KLT stays where it is.
  const bool bound = os::bind_this_klt(places.sets[place]);
  cache.bound_to = place;
  cache.bound_klt = bound ? klt : 0;
}

}  // namespace weft::openmp
