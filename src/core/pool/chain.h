// Chains: units linked by Unit::next, from a first to a last one. What the last one's link says is of no account.
#pragma once

#include "core/unit.h"

namespace weft::core {

/// `visit` may give the unit away: nothing of it is read afterwards.
template <class Visit>
void for_each_in_chain(Unit* first, Unit* last, Visit visit) {
  for (Unit* unit = first;;) {
    Unit* next = unit->next;
    const bool was_last = unit == last;
    visit(unit);
    if (was_last) return;
    unit = next;
  }
}

/// Afterwards it runs from `last` to `first`.
inline void reverse_chain(Unit* first, Unit* last) {
  Unit* before = nullptr;
  for_each_in_chain(first, last, [&before](Unit* unit) {
    unit->next = before;
    before = unit;
  });
}

}  // namespace weft::core
