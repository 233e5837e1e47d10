// RoC: return on completion, with the stack bound at creation (dissertation 3.4.1, Figs. 3.11-3.12).
//
// Constraint: none.
#include "core/technique/start.h"

namespace weft::core {

// What is bound already is used: the rest is RoC-L.
Event run_roc(Worker& worker, Unit& unit) { return run_roc_l(worker, unit); }

}  // namespace weft::core
