// LLVM's entry points for cancellation.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/cancel.h"
#include "faces/openmp/loop.h"

namespace weft::openmp {
namespace {

enum LlvmRegion : std::int32_t { llvm_parallel = 1, llvm_loop = 2, llvm_sections = 3, llvm_taskgroup = 4 };

Cancellable region_of(std::int32_t kind) {
  if (kind == llvm_loop || kind == llvm_sections) return Cancellable::worksharing;
  return kind == llvm_taskgroup ? Cancellable::taskgroup : Cancellable::parallel;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT std::int32_t __kmpc_cancel(Ident*, Gtid, std::int32_t kind) {
  return cancel(this_member(), region_of(kind)) ? 1 : 0;
}
WEFT_EXPORT std::int32_t __kmpc_cancellationpoint(Ident*, Gtid, std::int32_t kind) {
  return cancellation_point(this_member(), region_of(kind)) ? 1 : 0;
}
// A member of a cancelled loop comes here from its midst.
WEFT_EXPORT std::int32_t __kmpc_cancel_barrier(Ident*, Gtid) {
  Member& member = this_member();
  if (member.loop.shared != nullptr) leave_loop(member);
  return cancellable_barrier(member) ? 1 : 0;
}

WEFT_EXPORT int kmp_get_cancellation_status(int kind) {
  return kind != 0 && cancellation_point(this_member(), region_of(kind)) ? 1 : 0;
}
WEFT_EXPORT int kmp_get_cancellation_status_(const int* kind) { return kmp_get_cancellation_status(*kind); }
