// KMP_HW_SUBSET: the part of the machine that the process is to use.
#pragma once

#include "os/cpu_set.h"

namespace weft::openmp {

struct HardwareSubset {
  bool given = false;
  os::CpuSet cpus;
};

extern HardwareSubset hardware_subset;

/// Reads the variable, and narrows the affinity mask of the calling thread to what it says, so that all else
/// follows: how many processors there are, what places can be had, and where threads that are not bound may run.
void read_hardware_subset();

}  // namespace weft::openmp
