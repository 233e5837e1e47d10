// Chains: units linked by Unit::next. Where the last one is given, what its link says is of no account; else it is
// nullptr.
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

template <class Visit>
void for_each_in_chain(Unit* first, Visit visit) {
  while (first != nullptr) {
    Unit* next = first->next;
    visit(first);
    first = next;
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

/// The new first one; the new last one is `first`.
inline Unit* reverse_chain(Unit* first) {
  Unit* before = nullptr;
  for_each_in_chain(first, [&before](Unit* unit) {
    unit->next = before;
    before = unit;
  });
  return before;
}

}  // namespace weft::core
