// GCC's entry points for cancellation.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/work.h"

namespace weft::openmp {
namespace {

enum GccRegion : int { gcc_parallel = 1, gcc_loop = 2, gcc_sections = 4, gcc_taskgroup = 8 };

Cancellable region_of(int kinds) {
  if ((kinds & (gcc_loop | gcc_sections)) != 0) return Cancellable::worksharing;
  return (kinds & gcc_taskgroup) != 0 ? Cancellable::taskgroup : Cancellable::parallel;
}

int flag_of(int kinds) {
  if ((kinds & gcc_loop) != 0) return ompt::cancel_loop;
  if ((kinds & gcc_sections) != 0) return ompt::cancel_sections;
  return (kinds & gcc_taskgroup) != 0 ? ompt::cancel_taskgroup : ompt::cancel_parallel;
}

inline bool end_worksharing(ompt::Caller caller) {
  Member& member = this_member();
  leave_loop(member);
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(caller, ompt::SyncKind::barrier_implicit_workshare, cancellable_barrier);
  return cancellable_barrier(member);
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT bool GOMP_cancellation_point(int kinds) {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_cancellation_point(WEFT_CALLER, region_of(kinds), flag_of(kinds));
  return cancellation_point(this_member(), region_of(kinds));
}
WEFT_EXPORT bool GOMP_cancel(int kinds, bool wanted) {
  if (!wanted) return GOMP_cancellation_point(kinds);
  if (ompt::watched) [[unlikely]]
    return ompt::watched_cancel(WEFT_CALLER, region_of(kinds), flag_of(kinds));
  return cancel(this_member(), region_of(kinds));
}

WEFT_EXPORT bool GOMP_barrier_cancel() {
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_explicit, cancellable_barrier);
  return cancellable_barrier(this_member());
}
WEFT_EXPORT bool GOMP_loop_end_cancel() { return end_worksharing(WEFT_CALLER); }
WEFT_EXPORT bool GOMP_sections_end_cancel() { return end_worksharing(WEFT_CALLER); }
