// KMP_AFFINITY, as LLVM's and Intel's runtime has it: places, and how members go round them (places.h, Turn).
#pragma once

namespace weft::openmp {

/// Before anything else of the environment is used: `norespect` widens the affinity mask of the calling thread.
void read_kmp_affinity();

/// The variable says where threads are, so that OMP_PROC_BIND, OMP_PLACES and GOMP_CPU_AFFINITY do not.
bool kmp_affinity_decides();

/// Makes the places that it asks for. False: threads are not to be bound.
bool use_kmp_affinity();

/// With `verbose`, a line that says what the places are, whatever they come from.
void tell_places_if_verbose();

}  // namespace weft::openmp
