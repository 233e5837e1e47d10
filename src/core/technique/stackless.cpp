// Stackless (dissertation 3.2, Figs. 3.4-3.5): the unit is called on the scheduler's stack. Those that follow run in a
// row (in_a_row.cpp).
//
// Constraint: no deviation. Whatever would wait or yield returns WEFT_ERR_STACKLESS instead (may_wait).
#include "core/technique/entry.h"

namespace weft::core {

Event run_stackless(Worker& worker, Unit& unit) {
  begin(worker, unit);
  call_unit(unit);
  arch::load_fp_control(worker.fp_control);
  end_undeviated(worker, unit);
  return Event::returned;
}

}  // namespace weft::core
