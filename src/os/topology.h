// Which CPUs have something in common. Read from hwloc when asked for.
#pragma once

#include "os/cpu_set.h"

namespace weft::os {

/// What the CPUs of a group share. A machine may have no dies or caches that it knows of: then there is no such group.
enum class Sharing { thread, core, l1_cache, l2_cache, l3_cache, last_cache, node, die, package };

/// Calls visit(context, cpus) for each group of CPUs, neighbours one after the other. No CPU is in two: memory that has
/// none of its own (HBM, CXL), which hwloc gives the CPUs near it, is no group. `*foreign` is set before, if the
/// topology is not of this machine (HWLOC_SYNTHETIC, HWLOC_XMLFILE). False: nothing is known.
bool for_each_group(const char* library, Sharing sharing, void (*visit)(void* context, const CpuSet& cpus),
                    void* context, bool* foreign);

inline constexpr const char hwloc_library[] = "libhwloc.so.15";

}  // namespace weft::os
