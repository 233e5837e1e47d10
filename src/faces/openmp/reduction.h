// Reductions at the end of a construct, for compilers that leave it to the runtime how the members put their parts
// together: LLVM's and Intel's. (Tasks have task_reduction.h.)
#pragma once

#include <atomic>
#include <cstdint>

#include "faces/openmp/team.h"

namespace weft::openmp {

/// What a member adds: `data`, laid out by the compiler, which stays where it is until the member goes on; and what
/// adds one such to another (nullptr: nothing does).
struct ReductionPart {
  using Combine = void (*)(void* into, void* from);
  void* data;
  Combine combine;
};

[[gnu::noinline]] bool begin_contended_reduction(Team& team, const ReductionPart& part, std::uint32_t which);

/// For a member of a team that is larger than one. True: it adds its part to the variables, all by itself, and then
/// calls end_reduction(). False: it has nothing to do any more, some other member adds the part. Waits for none that
/// has not come to a reduction yet. Parts are added before the barrier or the end of the region that follows.
inline bool begin_reduction(Member& member, const ReductionPart& part) {
  const std::uint32_t which = member.reductions++;
  if (member.team->reductions.lock.try_lock()) [[likely]]
    return true;
  return begin_contended_reduction(*member.team, part, which);
}

inline void end_reduction(Member& member) { member.team->reductions.lock.unlock(); }

}  // namespace weft::openmp
