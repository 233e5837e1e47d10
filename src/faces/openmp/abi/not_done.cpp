// Entry points that this version of weft does not implement: the first call ends the process with one
// line that names it, since there is nothing right that it could do.
#include "base/panic.h"
#include "faces/openmp/abi/export.h"

namespace weft::openmp {

#define WEFT_NOT_DONE(name, construct)                                              \
  WEFT_EXPORT [[noreturn]] void name() {                                            \
    base::panic(#name ": not implemented in this version of weft (" construct ")"); \
  }

// No compiler of LLVM 19 or before makes use of these.
WEFT_NOT_DONE(__kmpc_process_loop_nest_rectang, "collapse of loops that are not rectangular, by the runtime")
WEFT_NOT_DONE(__kmpc_calc_original_ivs_rectang, "collapse of loops that are not rectangular, by the runtime")
WEFT_NOT_DONE(__kmpc_for_collapsed_init, "collapse of loops that are not rectangular, by the runtime")
WEFT_NOT_DONE(__kmpc_task_get_depnode, "dependences of target tasks on a device")
WEFT_NOT_DONE(__kmpc_task_get_successors, "dependences of target tasks on a device")

}  // namespace weft::openmp
