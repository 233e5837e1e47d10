// GCC's entry points for cancellation.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/loop.h"

namespace weft::openmp {
namespace {

enum GccRegion : int { gcc_parallel = 1, gcc_loop = 2, gcc_sections = 4, gcc_taskgroup = 8 };

Cancellable region_of(int kinds) {
  if ((kinds & (gcc_loop | gcc_sections)) != 0) return Cancellable::worksharing;
  return (kinds & gcc_taskgroup) != 0 ? Cancellable::taskgroup : Cancellable::parallel;
}

bool end_worksharing() {
  Member& member = this_member();
  leave_loop(member);
  return cancellable_barrier(member);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT bool GOMP_cancel(int kinds, bool wanted) {
  Member& member = this_member();
  return wanted ? cancel(member, region_of(kinds)) : cancellation_point(member, region_of(kinds));
}
WEFT_EXPORT bool GOMP_cancellation_point(int kinds) { return cancellation_point(this_member(), region_of(kinds)); }

WEFT_EXPORT bool GOMP_barrier_cancel() { return cancellable_barrier(this_member()); }
WEFT_EXPORT bool GOMP_loop_end_cancel() { return end_worksharing(); }
WEFT_EXPORT bool GOMP_sections_end_cancel() { return end_worksharing(); }
