// C-Full-E: C-Full with the stack given back when the child ends (eager stack release; dissertation 3.5.1, Fig. 3.20).
//
// Constraint: none.
#include "core/technique/start.h"

namespace weft::core {

// When the stack is free is said by binds_early(): the rest is C-Full.
void spawn_c_full_e(Worker& worker, Unit& child) { spawn_c_full(worker, child); }

}  // namespace weft::core
