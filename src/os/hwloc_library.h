// The functions of hwloc that are used, looked up when somebody asks for the topology.
#pragma once

#include <dlfcn.h>
#include <hwloc.h>

namespace weft::os {

struct Hwloc {
  decltype(&hwloc_get_api_version) get_api_version;
  decltype(&hwloc_topology_init) topology_init;
  decltype(&hwloc_topology_load) topology_load;
  decltype(&hwloc_topology_destroy) topology_destroy;
  decltype(&hwloc_topology_is_thissystem) topology_is_thissystem;
  decltype(&hwloc_get_type_depth) get_type_depth;
  decltype(&hwloc_get_nbobjs_by_depth) count_by_depth;
  decltype(&hwloc_get_obj_by_depth) object_by_depth;
  decltype(&hwloc_bitmap_next) bitmap_next;
};

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// False: hwloc is missing, or another one than this was built for.
inline bool load_hwloc(const char* name, Hwloc& hwloc) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  // hwloc promises that structures stay as they are while the upper half of the version does.
  constexpr unsigned major_shift = 16;
  return look_up(library, "hwloc_get_api_version", hwloc.get_api_version) &&
         hwloc.get_api_version() >> major_shift == HWLOC_API_VERSION >> major_shift &&
         look_up(library, "hwloc_topology_init", hwloc.topology_init) &&
         look_up(library, "hwloc_topology_load", hwloc.topology_load) &&
         look_up(library, "hwloc_topology_destroy", hwloc.topology_destroy) &&
         look_up(library, "hwloc_topology_is_thissystem", hwloc.topology_is_thissystem) &&
         look_up(library, "hwloc_get_type_depth", hwloc.get_type_depth) &&
         look_up(library, "hwloc_get_nbobjs_by_depth", hwloc.count_by_depth) &&
         look_up(library, "hwloc_get_obj_by_depth", hwloc.object_by_depth) &&
         look_up(library, "hwloc_bitmap_next", hwloc.bitmap_next);
}

}  // namespace weft::os
