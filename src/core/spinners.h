// Which units spin: who waits in a loop looks, whenever it is interrupted, as it looked the time before.
//
// A loop that waits for a word of memory to change, with a pause in it perhaps, keeps its registers as they are, or all
// but one: a counter of its rounds, what it has read last. Code that computes changes more of them, and the
// vector registers above all. So a unit is taken for a spinner that is interrupted twice in a row with the same
// vector registers, and at most one of the others changed. With more of these changed it may be one, that counts its
// rounds in some other way, or compute with integers. Where that is wrong, either way, slices are longer or shorter
// than is best (slices.h), and nothing worse.
//
// The units that were interrupted last are kept in a table without a lock: two handlers may write one entry at a time,
// and what is then read from it is equal to nothing, or to what it should be.
#pragma once

#include "core/slices.h"
#include "core/unit.h"
#include "os/interrupt.h"

namespace weft::core {

/// From the handler of an interruption, once for each: what the unit does.
Doing what_it_does(const Unit& unit, const os::Interruption& interruption);

}  // namespace weft::core
