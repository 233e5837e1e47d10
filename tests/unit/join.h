// Units whose memory the test provides, as OpenMP's members are (not free-standing, core/create.h), made joinable: who
// joins one waits for its state.
#pragma once

#include "core/unit.h"

namespace weft::test {

/// Prepares a unit that runs entry(argument) and can be joined. Start it with core::start().
void make_joinable(core::WholeUnit& unit, void (*entry)(void*), void* argument,
                   core::Technique technique = core::Technique::roc_l, std::size_t stack_size = 0);

/// Waits until the unit is done. Any number of units and roots may join the same one.
void join(core::Unit& unit);

}  // namespace weft::test
