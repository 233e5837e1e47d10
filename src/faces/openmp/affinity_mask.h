// Sets of CPUs as the program's own objects, and the set of the calling kernel thread: what the kmp_ routines for
// affinity hand out.
#pragma once

#include <cstddef>

namespace weft::openmp {

/// CPUs are numbered from 0 to this, exclusive.
int most_cpus();

/// A set of CPUs, empty at first.
void* new_affinity_mask();
void delete_affinity_mask(void* mask);

/// 0; -1: there is no such CPU or no mask; -2: the process may not use it.
int add_to_affinity_mask(int cpu, void* mask);
int remove_from_affinity_mask(int cpu, void* mask);
/// 1: the CPU is in the mask; else 0, or as above.
int is_in_affinity_mask(int cpu, const void* mask);

/// The mask of the calling kernel thread; 0, or what the system says.
int set_thread_affinity(const void* mask);
int get_thread_affinity(void* mask);

}  // namespace weft::openmp
