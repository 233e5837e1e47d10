// C-RoC-E: C-RoC with the stack given back when the child ends (dissertation 3.5.1-3.5.2, Figs. 3.23-3.24), so that
// the next child finds it in the cache.
//
// Constraint: none.
#include "core/technique/start.h"

namespace weft::core {

// When the stack is free is said by binds_early(): the rest is C-RoC.
void spawn_c_roc_e(Worker& worker, Unit& child) { spawn_c_roc(worker, child); }

}  // namespace weft::core
