// Taking several units at a time where a store hands them out one by one.
#pragma once

#include "core/unit.h"

namespace weft::core {

/// Fills `units` with what `pop` gives, `most` of them or until that is nullptr; returns how many. Nothing is written
/// behind these. (Bug: the nullptr was.)
template <class Pop>
unsigned take_many(Unit** units, unsigned most, Pop pop) {
  unsigned taken = 0;
  while (taken < most) {
    Unit* unit = pop();
    if (unit == nullptr) break;
    units[taken++] = unit;
  }
  return taken;
}

}  // namespace weft::core
