// LLVM's entry points for teams on the host.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/abi/kmpc_outlined.h"
#include "faces/openmp/league.h"
#include "faces/openmp/ompt/regions.h"

namespace weft::openmp {
namespace {

unsigned positive(std::int32_t value) { return value > 0 ? static_cast<unsigned>(value) : 0; }

void call_in_region(void* outlined) { ompt::call_in_region_of_its_own(call_outlined, outlined); }

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void __kmpc_push_num_teams(Ident*, Gtid, std::int32_t teams, std::int32_t thread_limit) {
  this_member().pushed.league = {positive(teams), positive(teams), positive(thread_limit)};
}
WEFT_EXPORT void __kmpc_push_num_teams_51(Ident*, Gtid, std::int32_t fewest, std::int32_t most,
                                          std::int32_t thread_limit) {
  this_member().pushed.league = {positive(fewest), positive(most), positive(thread_limit)};
}
WEFT_EXPORT void __kmpc_set_thread_limit(Ident*, Gtid, std::int32_t thread_limit) {
  if (thread_limit > 0) icv_of(this_member()).thread_limit = thread_limit;
}

WEFT_EXPORT void __kmpc_fork_teams(Ident*, std::int32_t count, Microtask function, ...) {
  WEFT_TAKE_OUTLINED(outlined, function, count);
  Member& member = this_member();
  const LeagueRequest request = member.pushed.league;
  member.pushed.league = {};
  if (ompt::watched) [[unlikely]] {
    const ompt::RegionCall call(WEFT_CALLER, request.most, ompt::invoked_by_runtime | ompt::parallel_league);
    return run_league(request, call_in_region, &outlined);
  }
  run_league(request, call_outlined, &outlined);
}
