// Task reductions as GCC's compilers describe them (gomp_reduction.cpp).
#pragma once

#include <cstdint>

#include "faces/openmp/workshare.h"

namespace weft::openmp {

/// The current taskgroup's tasks find the list items of `data`.
void register_reductions(Member& member, std::uintptr_t* data);
/// Where there is no taskgroup to be, for there are no tasks: only what unregistering expects.
void register_reductions_without_tasks(Member& member, std::uintptr_t* data);

/// What a member does that enters a worksharing construct with task reductions.
EntryStep reductions_of_worksharing(std::uintptr_t* data);

}  // namespace weft::openmp
