// Entry points that this version of weft does not implement: the first call ends the process with one
// line that names it, since there is nothing right that it could do.
#include "base/panic.h"
#include "faces/openmp/abi/export.h"

namespace weft::openmp {

#define WEFT_NOT_DONE(name, construct)                                              \
  WEFT_EXPORT [[noreturn]] void name() {                                            \
    base::panic(#name ": not implemented in this version of weft (" construct ")"); \
  }

WEFT_NOT_DONE(GOMP_target, "target constructs")
WEFT_NOT_DONE(GOMP_target_ext, "target constructs")
WEFT_NOT_DONE(GOMP_target_data, "target constructs")
WEFT_NOT_DONE(GOMP_target_data_ext, "target constructs")
WEFT_NOT_DONE(GOMP_target_end_data, "target constructs")
WEFT_NOT_DONE(GOMP_target_update, "target constructs")
WEFT_NOT_DONE(GOMP_target_update_ext, "target constructs")
WEFT_NOT_DONE(GOMP_target_enter_exit_data, "target constructs")
WEFT_NOT_DONE(GOMP_teams, "teams constructs")
WEFT_NOT_DONE(GOMP_teams4, "teams constructs")
WEFT_NOT_DONE(GOMP_teams_reg, "teams constructs")

}  // namespace weft::openmp
