// Which CPUs have something in common. Read from hwloc when asked for.
#pragma once

#include "os/cpu_set.h"

namespace weft::os {

/// What the CPUs of a group share.
enum class Sharing { thread, core, last_cache, node, package };

/// Calls visit(context, cpus) for each group of CPUs, neighbours one after the other. `*foreign` is set if
/// the topology is not of this machine (HWLOC_SYNTHETIC, HWLOC_XMLFILE). False: nothing is known.
bool for_each_group(const char* library, Sharing sharing, void (*visit)(void* context, const CpuSet& cpus),
                    void* context, bool* foreign);

inline constexpr const char hwloc_library[] = "libhwloc.so.15";

}  // namespace weft::os
