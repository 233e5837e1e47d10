// The hardware threads of the machine and what each is a part of: for variables that speak of sockets, cores and
// threads.
#pragma once

#include "base/environment.h"
#include "os/cpu_set.h"

namespace weft::openmp {

/// From outside to inside.
enum Layer : unsigned { of_package, of_die, of_node, of_l3, of_l2, of_l1, of_core, of_thread, layer_count };

struct HardwareThread {
  int cpu = 0;
  unsigned part[layer_count] = {};  // in which package, ... it is
};

/// Those that the process may use, neighbours one after the other.
struct Hardware {
  HardwareThread* threads = nullptr;
  unsigned count = 0;
  bool has[layer_count] = {};  // packages, cores and threads always
  bool foreign = false;        // not of this machine

  Hardware();  // asks hwloc; where that is missing, each CPU is a core
  ~Hardware();
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;

  void keep_only(const os::CpuSet& cpus);
};

/// What a value may call a layer: as in LLVM's runtime, in the singular and the plural.
inline constexpr unsigned last_cache = layer_count;  // whichever the machine has
bool take_layer(base::ValueReader& value, unsigned& layer);

/// The layer itself; for the last cache, and for one that the machine does not have, the next one outside.
Layer existing_layer(const Hardware& hardware, unsigned layer);

}  // namespace weft::openmp
