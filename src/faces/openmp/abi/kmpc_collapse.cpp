// LLVM's entry points for nests of collapsed loops. Its own compilers work such nests out by themselves; Intel's call
// these.
#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/collapsed_loops.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/team.h"

using namespace weft::openmp;

namespace {

unsigned checked(std::int32_t count) {
  if (count < 1 || static_cast<unsigned>(count) > most_collapsed)
    weft::base::panic("%d collapsed loops: expected from 1 to %u", count, most_collapsed);
  return static_cast<unsigned>(count);
}

}  // namespace

/// How many iterations a rectangular nest has.
WEFT_EXPORT std::uint64_t __kmpc_process_loop_nest_rectang(Ident*, Gtid, LoopLevel* levels, std::int32_t count) {
  const std::uint64_t all = count_rectangular(levels, checked(count));
  make_canonical(levels, checked(count));
  return all;
}

/// The variables of the loops at one of these.
WEFT_EXPORT void __kmpc_calc_original_ivs_rectang(Ident*, std::uint64_t iteration, const LoopLevel* levels,
                                                  std::uint64_t* variables, std::int32_t count) {
  find_rectangular(levels, checked(count), iteration, variables);
}

/// A static loop over any nest: `part` gets the calling thread's first iteration as lower bounds, its last one as upper
/// bounds. 0: it has none.
WEFT_EXPORT std::int32_t __kmpc_for_collapsed_init(Ident*, Gtid, LoopLevel* levels, LoopLevel* part, std::int32_t count,
                                                   std::int32_t* last) {
  const Member& member = this_member();
  CollapsedPart own;
  share_out(levels, checked(count), member.number, member.team->size, own);
  make_canonical(levels, checked(count));
  if (ompt::watched) [[unlikely]]
    ompt::static_loop_begins(WEFT_CALLER, ompt::WorkKind::loop_static, own.all, {own.first, own.count});
  if (last != nullptr) *last = own.last ? 1 : 0;
  if (own.count == 0) return 0;
  for (std::int32_t index = 0; index < count; ++index) {
    part[index] = levels[index];
    part[index].lower = own.from[index];
    part[index].upper = own.to[index];
    part[index].lower_factor = part[index].upper_factor = 0;
  }
  return 1;
}
