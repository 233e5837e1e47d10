// Entry points that this version of weft does not implement: the first call ends the process with one
// line that names it, since there is nothing right that it could do.
#include "base/panic.h"
#include "faces/openmp/abi/export.h"

namespace weft::openmp {

#define WEFT_NOT_DONE(name, construct)                                              \
  WEFT_EXPORT [[noreturn]] void name() {                                            \
    base::panic(#name ": not implemented in this version of weft (" construct ")"); \
  }

// What an offloading runtime asks for. There is none beside weft, and what they return is a part of libomp's own data.
WEFT_NOT_DONE(__kmpc_task_get_depnode, "dependences of target tasks on a device")
WEFT_NOT_DONE(__kmpc_task_get_successors, "dependences of target tasks on a device")

}  // namespace weft::openmp
