// WEFT_REPORT=1: what weft did, on stderr when the process ends.
#pragma once

#include "core/worker.h"
#include "faces/openmp/root.h"

namespace weft::openmp {

inline void count_region(core::Worker& worker, unsigned level, unsigned size) {
  RegionCounters& counters = cache_of(worker).counters;
  ++counters.regions[level < counted_levels ? level : counted_levels - 1];
  counters.members += size;
}

inline void count_task() { ++cache_of(*core::this_worker()).counters.tasks; }

/// Nothing in a process that has not come to the runtime, such as the helpers of a script.
void print_report();

}  // namespace weft::openmp
