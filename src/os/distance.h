// How far CPUs are from one another. Known only when somebody has asked: the answer comes from hwloc, which is loaded
// then, by a KLT that does nothing else. Where hwloc is missing it never comes.
#pragma once

namespace weft::os {

/// distance() of CPUs that share nothing.
inline constexpr unsigned farthest = 5;

/// 0: the same core; 1: the same L2 cache; 2: the same L3 cache; 3: the same package and memory; 4: one of the two; 5:
/// neither, or nothing is known about one of them.
unsigned distance(int cpu, int other);

/// Whether distance() knows anything. It does not change any more then.
bool distances_known();

/// Has the distances read, some time from now. Again: does nothing.
void ask_for_distances();

/// Reads them now, on the calling KLT, if nobody has asked yet. False: it cannot be done.
bool read_distances(const char* library);

/// In a forked child: the KLT that was reading is not there.
void reset_distances();

}  // namespace weft::os
