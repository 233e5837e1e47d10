// Joinable units: a unit that others wait for by its state.
#pragma once

#include "core/unit.h"

namespace weft::core {

/// Prepares a unit that runs entry(argument) and can be joined. Start it with start().
void make_joinable(WholeUnit& unit, void (*entry)(void*), void* argument, Technique technique = Technique::roc_l,
                   std::size_t stack_size = 0);

/// Waits until the unit is done. Any number of units and roots may join the same one.
void join(Unit& unit);

}  // namespace weft::core
