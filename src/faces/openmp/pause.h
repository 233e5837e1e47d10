// omp_pause_resource and omp_pause_resource_all on the host (OpenMP 5.2, section 18.6).
#pragma once

namespace weft::openmp {

/// False: that is no kind of pause, or the caller is inside a region.
bool pause_host(int kind);

}  // namespace weft::openmp
