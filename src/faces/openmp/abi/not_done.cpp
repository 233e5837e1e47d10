// Entry points that this version of weft does not implement: the first call ends the process with one
// line that names it, since there is nothing right that it could do.
#include "base/panic.h"
#include "faces/openmp/abi/export.h"

namespace weft::openmp {

#define WEFT_NOT_DONE(name, construct)                                              \
  WEFT_EXPORT [[noreturn]] void name() {                                            \
    base::panic(#name ": not implemented in this version of weft (" construct ")"); \
  }

#define WEFT_NOT_DONE_DOACROSS(prefix)                                       \
  WEFT_NOT_DONE(prefix##_static_start, "a loop with ordered(n) and depend")  \
  WEFT_NOT_DONE(prefix##_dynamic_start, "a loop with ordered(n) and depend") \
  WEFT_NOT_DONE(prefix##_guided_start, "a loop with ordered(n) and depend")  \
  WEFT_NOT_DONE(prefix##_runtime_start, "a loop with ordered(n) and depend") \
  WEFT_NOT_DONE(prefix##_start, "a loop with ordered(n) and depend")
WEFT_NOT_DONE_DOACROSS(GOMP_loop_doacross)
WEFT_NOT_DONE_DOACROSS(GOMP_loop_ull_doacross)
WEFT_NOT_DONE(GOMP_doacross_post, "ordered depend(source)")
WEFT_NOT_DONE(GOMP_doacross_wait, "ordered depend(sink)")
WEFT_NOT_DONE(GOMP_doacross_ull_post, "ordered depend(source)")
WEFT_NOT_DONE(GOMP_doacross_ull_wait, "ordered depend(sink)")

WEFT_NOT_DONE(GOMP_parallel_reductions, "reduction with the task modifier")
WEFT_NOT_DONE(GOMP_scope_start, "scope with a reduction that has the task modifier")
WEFT_NOT_DONE(GOMP_workshare_task_reduction_unregister, "reduction with the task modifier")
WEFT_NOT_DONE(GOMP_taskgroup_reduction_register, "task_reduction")
WEFT_NOT_DONE(GOMP_taskgroup_reduction_unregister, "task_reduction")
WEFT_NOT_DONE(GOMP_task_reduction_remap, "in_reduction")

WEFT_NOT_DONE(omp_fulfill_event, "the detach clause")
WEFT_NOT_DONE(omp_fulfill_event_, "the detach clause")

}  // namespace weft::openmp
