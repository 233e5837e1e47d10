// A member's place is not stored: it follows from the member's number, the size of its team, and what the
// team was opened with.
//
// Where there are places every worker belongs to one, in turn, and its KLT is bound to that place's CPUs
// for good; a thread of the program belongs to the first. A worker that claims a member of a region gets one of its
// own place if there is one left, else another. So with as many workers as members, each of which works for
// longer than it takes to wake a worker, members are where their place is, from region to region; members
// that are many, short, or go on after a wait on another worker may run in the place of others. A claim of a
// number from the share (region.cpp) is one ticket: there are as many tickets as members, nobody gives a
// member back, and whoever holds a ticket takes one member. So as long as somebody looks for one, one
// is there.
//
// A member's body is reached through attended_body(), which the team gets as its function: members of teams
// that nobody attends to cost nothing.
//
// Rejected: binding the KLT anew for every member that it starts or resumes. Then every member is where its
// place is, but an empty region of 2 members took more than a millisecond: the CPU that the KLT was moved to had
// another one spinning on it, and the kernel was in no hurry to change them. And a share for each place that only its
// workers may claim from: a place whose worker is busy or stuck would hold back members that another could run.
#include "faces/openmp/placement.h"

#include <atomic>

#include "base/panic.h"
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

// The first member that is `steps` places behind the master's; 1 if none is.
unsigned member_in_turn(const Placement& placement, unsigned size, unsigned steps) {
  if (places.turn == Turn::one_each) return steps < size ? steps : 1;
  const EvenDeal members(size, cores_of(placement));
  const unsigned core = steps / places.per_core;
  const unsigned within = steps % places.per_core;
  if (core >= cores_of(placement) || within >= members.count_of(core)) return 1;
  return members.first_of(core) + within;
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

void go_home(core::Worker& worker) {
  WorkerCache& cache = cache_of(worker);
  const int klt = worker.klt.load(std::memory_order_relaxed);
  if (cache.klt_at_home == klt || places.foreign) return;
  // A mask that the program narrowed meanwhile may leave nothing of the place: the KLT stays where it is.
  if (os::bind_this_klt(places.sets[cache.home])) cache.klt_at_home = klt;
}

unsigned home_of(core::Worker& worker) {
  static std::atomic<unsigned> next{1};
  WorkerCache& cache = cache_of(worker);
  if (!cache.has_home) {
    const unsigned turn = next.fetch_add(1, std::memory_order_relaxed);
    cache.home = (places.initial + turn) % places.count;
  }
  cache.has_home = true;
  return cache.home;
}

void attended_body(void* argument) {
  Team& team = *static_cast<Team*>(argument);
  if (places.in_use()) {
    core::Worker& worker = core::worker_here();
    home_of(worker);
    go_home(worker);
  }
  if (team.displays) display_affinity(nullptr);
  team.attended_function(team.attended_data);
}

// Nobody has claimed any but the master. Written before the share is opened.
void forget_claims(Team& team) {
  const unsigned words = (team.size + 63) / 64;
  if (!team.taken.reserve(words)) base::panic("no memory for a team of %u", team.size);
  const auto taken = team.taken.items();
  for (unsigned word = 0; word < words; ++word) taken[word].store(word == 0 ? 1 : 0, std::memory_order_relaxed);
}

// The member with the smallest number at the place, as numbers go round from the master's place; any other if
// there is none.
unsigned first_member_at(const Placement& placement, unsigned size, unsigned place) {
  if (place < placement.first || place >= placement.first + placement.count) return 1;
  if (placement.policy == ProcBind::spread && size <= placement.count) {
    const EvenDeal parts(placement.count, size);
    const unsigned master_part = parts.box_of(placement.place - placement.first);
    return (parts.box_of(place - placement.first) + size - master_part) % size;
  }
  const unsigned round = place < placement.place ? placement.count : 0;
  const unsigned steps = place + round - placement.place;
  if (placement.policy == ProcBind::true_ && places.turn != Turn::blocks) return member_in_turn(placement, size, steps);
  if (size > placement.count) return steps * (size / placement.count);
  return steps < size ? steps : 1;
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
  team.by_place = policy != ProcBind::primary && team.size > 1 && opener.count > 1;
  if (team.by_place) forget_claims(team);
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

void attend_region(Team& team) {
  if (places.in_use()) place_team(team, cache_of(core::worker_here()));
  team.displays = must_display(team);
  team.attended_function = team.function;
  team.attended_data = team.data;
  team.function = attended_body;
  team.data = &team;
  if (team.displays) display_affinity(nullptr);  // member 0 does not come to attended_body()
}

void attend_initial_team(Team& team) {
  if (!places.in_use()) return;
  const Member* parent = team.master.parent;
  const MemberPlace at = parent != nullptr ? place_of(*parent) : MemberPlace{places.initial, 0, places.count};
  team.placement = {ProcBind::primary, at.first, at.count, at.place};
  if (parent != nullptr) return;
  core::Worker& worker = core::worker_here();
  WorkerCache& cache = cache_of(worker);
  cache.has_home = true;
  cache.home = places.initial;
  go_home(worker);
}

// Relaxed: the claim of the ticket has acquired what forget_claims() wrote.
unsigned claim_by_place(core::Worker& worker, Team& team) {
  const auto taken = team.taken.items();
  unsigned number = first_member_at(team.placement, team.size, home_of(worker));
  for (;;) {
    const std::uint64_t bit = std::uint64_t{1} << (number % 64);
    const bool seems_free = (taken[number / 64].load(std::memory_order_relaxed) & bit) == 0;
    if (seems_free && (taken[number / 64].fetch_or(bit, std::memory_order_relaxed) & bit) == 0) return number;
    if (++number == team.size) number = 0;
  }
}

}  // namespace weft::openmp
