// place-partition-var's places (OpenMP 5.2, sections 2.1 and 21.1.6): what OMP_PLACES, or for libgomp's
// users GOMP_CPU_AFFINITY, lists. Read once when the library is loaded; empty where nothing is bound.
#pragma once

#include <cstdint>

#include "base/environment.h"
#include "os/cpu_set.h"

namespace weft::openmp {

/// How the members of a team that is bound but has no policy of OpenMP's go round the places.
enum class Turn : std::uint8_t {
  blocks,    // as the policy close: neighbours share a place where there are more members than places
  one_each,  // one after the other, and again from the first
  balanced,  // evenly over the cores: neighbours share a core where there are more members than cores
};

struct Places {
  os::CpuSet* sets = nullptr;
  unsigned count = 0;
  unsigned initial = 0;   // where the threads of the program are
  unsigned per_core = 1;  // Turn::balanced: places that make up a core
  Turn turn = Turn::blocks;
  bool foreign = false;  // of a topology that is not this machine's: nothing can be bound
  int usable_cpus = 0;   // of the process, before anything was bound

  bool in_use() const { return count != 0; }
};

extern Places places;

/// Each reads the whole value and stores the places if all of it makes sense.
bool read_places(base::ValueReader& value);
bool read_cpu_affinity(base::ValueReader& value);

/// One place for each hardware thread.
void use_threads_as_places();

/// Takes away the CPUs that the process may not use, and places that have no other. `source` names the
/// variable in the line that says so; none where `quiet`, or where KMP_HW_SUBSET wants it so.
void keep_usable_places(const char* source, bool quiet = false);

void forget_places();

/// On stderr, as libgomp writes them: {0:2},{4}.
void show_places();

}  // namespace weft::openmp
