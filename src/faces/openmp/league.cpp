// A league is a region whose members are initial threads: each of them opens a team at level 0 for
// itself, runs the construct's body in it, and closes it. So teams run at the same time on whatever
// workers are free, and all that a region's end waits for is that its members have returned. What a
// team's threads ask about their surroundings ends at its level 0 and never sees the region around. Nor does
// a single team need one, but for a tool, or where members have places.
#include "faces/openmp/league.h"

#include "base/panic.h"
#include "core/pool/share.h"
#include "faces/openmp/global_icv.h"
#include "faces/openmp/ompt/watched.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/region.h"
#include "faces/openmp/report.h"
#include "faces/openmp/team.h"

namespace weft::openmp {
namespace {

struct League {
  void (*function)(void*);
  void* data;
  unsigned size;
  Icv icv;  // of every team's initial task
};

// GCC's code hands on a negative num_teams. (Bug: there were 16 million teams.)
[[gnu::noinline, gnu::cold]] unsigned size_below_one(unsigned requested) {
  base::warn("num_teams(%d): must be positive; there is one team", static_cast<int>(requested));
  return 1;
}

unsigned size_for(const LeagueRequest& request) {
  unsigned size = request.most != 0 ? request.most : request.fewest;
  if (size == 0) size = static_cast<unsigned>(global_icv.max_teams.load(std::memory_order_relaxed));
  if (size == 0) size = request.unsaid;
  if (static_cast<int>(size) < 0) [[unlikely]]
    return size_below_one(size);
  return size < core::Share::most ? size : core::Share::most;
}

void limit_threads(Icv& icv, unsigned clause) {
  unsigned limit = clause;
  if (limit == 0) limit = static_cast<unsigned>(global_icv.teams_thread_limit.load(std::memory_order_relaxed));
  if (limit != 0)
    icv.thread_limit = limit > static_cast<unsigned>(no_thread_limit) ? no_thread_limit : static_cast<int>(limit);
}

void run_team_of(const League& league, unsigned number) {
  Team& team = open_initial_team(league.icv);
  team.league_size = league.size;
  team.league_number = number;
  league.function(league.data);
  close_initial_team();
}

void run_team(void* league) { run_team_of(*static_cast<const League*>(league), this_member().number); }

// Bug: each of thousands of teams had an identity, which is a kernel thread, and the root kept it. (For a tool each has
// a thread all the same.)
Team& prepare(Member& opener, League& league) {
  constexpr unsigned most_with_seats = 256;
  const bool small = league.size <= most_with_seats || ompt::watched;
  return (small ? prepare_region : prepare_region_without_seats)(opener, league.size, run_team, &league);
}

}  // namespace

void run_league(const LeagueRequest& request, void (*function)(void*), void* data) {
  Member& opener = this_member();
  League league{function, data, size_for(request), icv_of(opener)};
  limit_threads(league.icv, request.thread_limit);
  if (league.size == 1 && !attends_regions) {
    count_region(core::worker_here(), level_of(opener) + 1, 1);
    return run_team_of(league, 0);
  }
  Team& team = prepare(opener, league);
  league.size = team.size;                  // a single one in some handlers
  team.icv.thread_limit = no_thread_limit;  // its members are counted nowhere, each begins a contention group
  start_members(team);
  run_team(&league);
  close_region(team);
}

void begin_league_here(const LeagueRequest& request) {
  Member& member = this_member();
  Team& team = initial_team(member);
  team.league_size = size_for(request);
  team.league_number = 0;
  if (request.thread_limit != 0) limit_threads(icv_of(member), request.thread_limit);
}

bool next_team_here() {
  Team& team = initial_team(this_member());
  if (team.league_number + 1 >= team.league_size) return false;
  ++team.league_number;
  return true;
}

int league_size() { return static_cast<int>(initial_team(this_member()).league_size); }
int league_number() { return static_cast<int>(initial_team(this_member()).league_number); }

}  // namespace weft::openmp
