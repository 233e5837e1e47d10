// Full: fully fledged, with the stack bound at creation (dissertation 3.3.1, Figs. 2.4-2.5 and 3.6).
//
// Constraint: none. The stack is another than the last unit's, so it is seldom in a cache.
#include "core/technique/start.h"

namespace weft::core {

// What is bound already is used: the rest is Full-L.
Event run_full(Worker& worker, Unit& unit) { return run_full_l(worker, unit); }

}  // namespace weft::core
