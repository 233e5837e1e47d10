// GCC's entry points for teams.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/league.h"
#include "faces/openmp/ompt/regions.h"

using namespace weft::openmp;

namespace {

constexpr unsigned teams_unsaid = 3;  // what libgomp makes of a host's teams construct without a number

}  // namespace

/// A teams construct outside target.
WEFT_EXPORT void GOMP_teams_reg(void (*function)(void*), void* data, unsigned teams, unsigned thread_limit, unsigned) {
  const LeagueRequest request{teams, teams, thread_limit, teams_unsaid};
  if (ompt::watched) [[unlikely]] {
    const ompt::RegionCall call(WEFT_CALLER, teams, ompt::invoked_by_runtime | ompt::parallel_league);
    return run_league(request, function, data);
  }
  run_league(request, function, data);
}

/// One inside target. The compiler makes a loop of it, in which this is called before each team.
WEFT_EXPORT bool GOMP_teams4(unsigned fewest, unsigned, unsigned thread_limit, bool first) {
  // As few as the clause allows: teams that run one after the other gain nothing by being more.
  if (!first) return next_team_here();
  const unsigned teams = fewest != 0 ? fewest : 1;
  begin_league_here({teams, teams, thread_limit});
  return true;
}

/// As compilers before GCC 12 emitted it: the body runs once. So there is one team, whatever was asked for.
WEFT_EXPORT void GOMP_teams(unsigned, unsigned thread_limit) { begin_league_here({1, 1, thread_limit}); }
