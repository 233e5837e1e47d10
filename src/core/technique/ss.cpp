// SS: stack separation, with the stack bound at creation (dissertation 3.4.2, Figs. 3.13-3.14).
//
// Constraint: the scheduler must be stateless.
#include "core/technique/start.h"

namespace weft::core {

// What is bound already is used: the rest is SS-L.
Event run_ss(Worker& worker, Unit& unit) { return run_ss_l(worker, unit); }

}  // namespace weft::core
