// A member's place is not stored: it follows from the member's number, the size of its team, and what the
// team was opened with.
//
// Where there are places, members run nowhere else. A region's members are no numbers to be claimed by
// anybody then, but units in the pool of their place (core/place_pools.h, members.cpp), whose workers alone start and
// resume them; a worker's KLT is bound to the place of what it goes on with, which changes only where places
// share a worker. The master stays where it is: a region places its member 0 at the place of who opens it.
//
// Where OMP_PROC_BIND says `unset`, members are numbers again, to be claimed by anybody, and units of nobody's pool
// once they have waited (dissertation, section 4.3.5): they run on whichever worker takes them, on the CPUs where its
// KLT is. So KLTs of weft's are bound to the place that they attend from their start: else one that has met no placed
// unit yet would stay where the thread is that started it. Member 0 is the thread that opened the region, and stays at
// its place if it has one. If it has none and opens a region that is bound, it gets that of its worker, and is a placed
// unit until the region is closed: nobody but itself looks at its pool and its flags while it runs, and whoever resumes
// it meanwhile has seen them, for it waited after they were set. A thread of the program without a place is a placed
// unit all the same, whose KLT is let go when it goes on: it may have run units of a place while it waited.
//
// Rejected: binding the KLT anew for every member that anybody starts or resumes. An empty region of 2
// members took more than a millisecond: the CPU that the KLT was moved to had another one spinning on it, and the
// kernel was in no hurry to change them. And to let each worker claim members of its own place first, and others if
// there are none: an idle worker is quicker than the one that wakes up, so members ran in the place of others.
#include "faces/openmp/placement.h"

#include "core/place_pools.h"
#include "core/scheduler.h"
#include "faces/openmp/affinity_display.h"
#include "faces/openmp/even_deal.h"
#include "faces/openmp/experiment.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/ompt/regions.h"
#include "faces/openmp/places.h"
#include "faces/openmp/root.h"
#include "faces/openmp/settings.h"
#include "faces/openmp/team.h"
#include "os/cpus.h"

namespace weft::openmp {

constinit bool attends_regions = false;
constinit base::Relaxed<bool> attends_ends{false};
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

bool some_level_is_unset() {
  for (int level = 0; level < settings.bind_levels; ++level)
    if (settings.bind_list[level] == ProcBind::unset) return true;
  return false;
}

unsigned place_attended_by(const core::Worker& worker) {
  const core::Pool* pool = worker.attended.load(std::memory_order_relaxed);
  for (unsigned place = 0; pool != nullptr && place < core::place_pools.count; ++place)
    if (core::place_pool(place) == pool) return place;
  return no_place;
}

// For a thread without a place: that of its worker.
unsigned place_here(core::Worker& worker) {
  const WorkerCache& cache = cache_of(worker);
  if (cache.bound_to != no_place && cache.bound_klt == worker.klt.load(std::memory_order_relaxed))
    return cache.bound_to;
  const unsigned attended = place_attended_by(worker);
  return attended != no_place ? attended : places.initial;
}

void hold_master(core::Worker& worker, unsigned place) {
  core::Unit& unit = *worker.current;
  if (!core::is_root(unit)) {
    if (!is_off(Optimisation::place_pools)) unit.pool.store(core::place_pool(place), std::memory_order_relaxed);
    unit.flags.fetch_or(core::UnitFlag::placed, std::memory_order_relaxed);
  }
  bind_to_place(worker, unit);
}

void place_team(Team& team, core::Worker& worker) {
  Member& master = team.master;
  Member& opened_by = *master.parent;
  const MemberPlace opener = place_of(opened_by);
  ProcBind policy = icv_of(opened_by).bind;
  if (opened_by.pushed.bind != ProcBind::false_) {
    policy = opened_by.pushed.bind;
    opened_by.pushed.bind = ProcBind::false_;
    if (static_cast<int>(team.level) >= settings.bind_levels) team.icv.bind = master.implicit.icv.bind = policy;
  }
  if (policy == ProcBind::unset) {
    team.placement = {policy, 0, places.count, opener.place};
    return;
  }
  const bool free = opener.place == no_place;
  team.placement = {policy, opener.first, opener.count, free ? place_here(worker) : opener.place};
  team.dispatch = is_off(Optimisation::place_pools) ? Dispatch::bound : Dispatch::at_places;
  if (free) hold_master(worker, team.placement.place);
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
    case ProcBind::unset:
      return {number == 0 ? placement.place : no_place, placement.first, placement.count};
    default:
      return {placement.place, placement.first, placement.count};
  }
}

MemberPlace place_of(const Member& member) {
  return place_in(member.team->placement, member.team->size, member.number);
}

void push_proc_bind(unsigned policy) {
  // Bug: it was kept by the worker, from which the thread may move before it opens the region.
  if (places.in_use()) this_member().pushed.bind = static_cast<ProcBind>(policy);
}

void attend_as_settings_say() {
  attends_members = places.in_use() || global_icv.display_affinity;
  attends_regions = attends_members || ompt::watched;
  attends_ends = ompt::watched || (places.in_use() && some_level_is_unset()) || sets_teams_aside() ||
                 is_off(Optimisation::master_helps);
  settings.attends_tasks = settings.cancellation || ompt::watched;
}

void attend_region(Team& team) {
  if (ompt::watched) ompt::region_opens(team);
  if (!attends_members) return;
  if (places.in_use()) place_team(team, core::worker_here());
  if (global_icv.display_affinity) attend_displayed_region(team);
}

void attend_initial_team(Team& team) {
  if (ompt::watched) ompt::initial_team_opens(team);
  if (global_icv.display_affinity) attend_displayed_initial_team(team);
  if (!places.in_use()) return;
  const Member* parent = team.master.parent;
  const unsigned initial = team.icv.bind == ProcBind::unset ? no_place : places.initial;
  const MemberPlace at = parent != nullptr ? place_of(*parent) : MemberPlace{initial, 0, places.count};
  team.placement = {ProcBind::primary, at.first, at.count, at.place};
  if (parent != nullptr) return;
  core::Worker& worker = core::worker_here();
  worker.root.unit.flags.fetch_or(core::UnitFlag::placed, std::memory_order_relaxed);
  bind_to_place(worker, worker.root.unit);
}

void attend_target_team(Team& team) {
  if (!places.in_use()) return;
  team.placement.first = 0;
  team.placement.count = places.count;
}

bool holds_master(const Team& team) {
  return places.in_use() && team.placement.policy != ProcBind::unset && place_of(*team.master.parent).place == no_place;
}

void let_master_go(core::Worker& worker) {
  core::Unit& unit = *worker.current;
  if (core::is_root(unit)) return bind_to_place(worker, unit);
  unit.flags.fetch_and(static_cast<std::uint16_t>(~core::UnitFlag::placed), std::memory_order_relaxed);
  unit.pool.store(nullptr, std::memory_order_relaxed);
}

namespace {

void bind_klt_here(core::Worker& worker, unsigned place) {
  const int klt = worker.klt.load(std::memory_order_relaxed);
  WorkerCache& cache = cache_of(worker);
  if (place == no_place && cache.bound_klt != klt) return;
  if (cache.bound_to == place && cache.bound_klt == klt) return;
  // A mask that the program narrowed meanwhile may leave nothing of the place: the KLT stays where it is.
  const bool bound = place != no_place ? os::bind_this_klt(places.sets[place]) : os::bind_klt(klt, -1);
  cache.bound_to = place;
  cache.bound_klt = bound ? klt : 0;
}

}  // namespace

void bind_to_place(core::Worker& worker, core::Unit& unit) {
  if (places.foreign) return;
  bind_klt_here(worker, place_of(*static_cast<const Member*>(core::details(unit).face)).place);
}

void place_forked(core::Worker& self, bool was_root) {
  self.root.unit.flags.fetch_or(core::UnitFlag::placed, std::memory_order_relaxed);
  const unsigned place = place_of(*static_cast<const Member*>(self.root.unit.details.face)).place;
  if (!was_root && place == no_place && !places.foreign) os::bind_klt(self.klt.load(std::memory_order_relaxed), -1);
}

void bind_new_klt(core::Worker& worker) {
  if (places.foreign) return;
  cache_of(worker).bound_klt = 0;
  if (const unsigned place = place_attended_by(worker); place != no_place) return bind_klt_here(worker, place);
  os::bind_klt(worker.klt.load(std::memory_order_relaxed), -1);
}

}  // namespace weft::openmp
