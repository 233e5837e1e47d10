// Built where hwloc's header is missing.
#include "os/topology.h"

namespace weft::os {

bool for_each_group(const char*, Sharing, void (*)(void*, const CpuSet&), void*, bool*) { return false; }

}  // namespace weft::os
