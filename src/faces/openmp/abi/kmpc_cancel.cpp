// LLVM's entry points for cancellation.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/loop.h"
#include "faces/openmp/ompt/sync.h"
#include "faces/openmp/ompt/work.h"

namespace weft::openmp {
namespace {

enum LlvmRegion : std::int32_t { llvm_parallel = 1, llvm_loop = 2, llvm_sections = 3, llvm_taskgroup = 4 };

Cancellable region_of(std::int32_t kind) {
  if (kind == llvm_loop || kind == llvm_sections) return Cancellable::worksharing;
  return kind == llvm_taskgroup ? Cancellable::taskgroup : Cancellable::parallel;
}

int flag_of(std::int32_t kind) {
  if (kind == llvm_loop) return ompt::cancel_loop;
  if (kind == llvm_sections) return ompt::cancel_sections;
  return kind == llvm_taskgroup ? ompt::cancel_taskgroup : ompt::cancel_parallel;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT std::int32_t __kmpc_cancel(Ident*, Gtid, std::int32_t kind) {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_cancel(WEFT_CALLER, region_of(kind), flag_of(kind)) ? 1 : 0;
  return cancel(this_member(), region_of(kind)) ? 1 : 0;
}
WEFT_EXPORT std::int32_t __kmpc_cancellationpoint(Ident*, Gtid, std::int32_t kind) {
  if (ompt::watched) [[unlikely]]
    return ompt::watched_cancellation_point(WEFT_CALLER, region_of(kind), flag_of(kind)) ? 1 : 0;
  return cancellation_point(this_member(), region_of(kind)) ? 1 : 0;
}
// A member of a cancelled loop comes here from its midst.
WEFT_EXPORT std::int32_t __kmpc_cancel_barrier(Ident*, Gtid) {
  Member& member = this_member();
  if (member.loop.shared != nullptr) leave_loop(member);
  if (ompt::watched) [[unlikely]]
    return ompt::synchronise(WEFT_CALLER, ompt::SyncKind::barrier_implicit_workshare, cancellable_barrier) ? 1 : 0;
  return cancellable_barrier(member) ? 1 : 0;
}

WEFT_EXPORT int kmp_get_cancellation_status(int kind) {
  return kind != 0 && cancellation_point(this_member(), region_of(kind)) ? 1 : 0;
}
WEFT_EXPORT int kmp_get_cancellation_status_(const int* kind) { return kmp_get_cancellation_status(*kind); }
