// Stackless (dissertation 3.2, Figs. 3.4-3.5): the unit is called on the scheduler's stack; and those that follow it
// (in_a_row.h).
//
// Constraint: no deviation. Whatever would wait or yield returns WEFT_ERR_STACKLESS instead (may_wait).
#include "core/technique/in_a_row.h"

namespace weft::core {

void end_changed_stackless(Worker& worker, Unit& unit) {
  end_call(unit);
  end_undeviated(worker, unit);
}

namespace {

// A function for each source, so that what is the same for all units of the row stays in registers.
template <class Source>
[[gnu::noinline]] void run_row(Worker& worker, Source source) {
  const auto suits = [](const Unit&, const UnitStart&) { return true; };
  const Row<Source, Technique::stackless> row(worker, source);
  Unit* unit = nullptr;
  UnitStart start;
  while (row.next(unit, start, suits)) run_stackless_in_row(worker, *unit);
  worker.current = nullptr;
}

}  // namespace

Event run_stackless(Worker& worker, Unit& unit) {
  begin(worker, unit);
  call_unit(unit);
  end_undeviated(worker, unit);
  with_row_source(worker, [&worker](auto source) { run_row(worker, source); });
  return Event::returned;
}

}  // namespace weft::core
