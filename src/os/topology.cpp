#include "os/topology.h"

#include "os/hwloc_library.h"

namespace weft::os {
namespace {

/// The depth of the objects that stand for the groups.
int depth_of(const Hwloc& hwloc, hwloc_topology_t topology, Sharing sharing) {
  constexpr hwloc_obj_type_t caches[] = {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE,
                                         HWLOC_OBJ_L1CACHE};
  switch (sharing) {
    case Sharing::thread:
      break;
    case Sharing::core:
      if (const int depth = hwloc.get_type_depth(topology, HWLOC_OBJ_CORE); depth >= 0) return depth;
      break;
    case Sharing::last_cache:
      for (const hwloc_obj_type_t cache : caches)
        if (const int depth = hwloc.get_type_depth(topology, cache); depth >= 0) return depth;
      break;
    case Sharing::l1_cache:
      return hwloc.get_type_depth(topology, HWLOC_OBJ_L1CACHE);
    case Sharing::l2_cache:
      return hwloc.get_type_depth(topology, HWLOC_OBJ_L2CACHE);
    case Sharing::l3_cache:
      return hwloc.get_type_depth(topology, HWLOC_OBJ_L3CACHE);
    case Sharing::die:
      return hwloc.get_type_depth(topology, HWLOC_OBJ_DIE);
    case Sharing::node:
      return hwloc.get_type_depth(topology, HWLOC_OBJ_NUMANODE);
    case Sharing::package:
      if (const int depth = hwloc.get_type_depth(topology, HWLOC_OBJ_PACKAGE); depth >= 0) return depth;
      return 0;  // the machine
  }
  return hwloc.get_type_depth(topology, HWLOC_OBJ_PU);
}

CpuSet cpus_of(const Hwloc& hwloc, const hwloc_obj* object) {
  CpuSet cpus;
  for (int cpu = hwloc.bitmap_next(object->cpuset, -1); CpuSet::in_range(cpu);
       cpu = hwloc.bitmap_next(object->cpuset, cpu))
    cpus.add(cpu);
  return cpus;
}

}  // namespace

bool for_each_group(const char* library, Sharing sharing, void (*visit)(void*, const CpuSet&), void* context,
                    bool* foreign) {
  Hwloc hwloc{};
  hwloc_topology_t topology = nullptr;
  if (!load_hwloc(library, hwloc) || hwloc.topology_init(&topology) != 0) return false;
  const bool loaded = hwloc.topology_load(topology) == 0;
  const int depth = loaded ? depth_of(hwloc, topology, sharing) : HWLOC_TYPE_DEPTH_UNKNOWN;
  const bool known = loaded && depth != HWLOC_TYPE_DEPTH_UNKNOWN && depth != HWLOC_TYPE_DEPTH_MULTIPLE;
  const unsigned count = known ? hwloc.count_by_depth(topology, depth) : 0;
  if (loaded) *foreign = hwloc.topology_is_thissystem(topology) == 0;
  CpuSet listed;
  for (unsigned index = 0; index < count; ++index) {
    CpuSet cpus = cpus_of(hwloc, hwloc.object_by_depth(topology, depth, index));
    cpus.remove(listed);
    if (cpus.count() == 0) continue;
    visit(context, cpus);
    listed.add(cpus);
  }
  hwloc.topology_destroy(topology);
  return count > 0;
}

}  // namespace weft::os
