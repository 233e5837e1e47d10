// How GCC writes depend clauses down, and what an omp_depend_t of its omp.h holds.
#pragma once

#include <cstdint>

#include "faces/openmp/dependence.h"

namespace weft::openmp {

DependenceList list_of(void* const* depend);

/// omp_depend_t of GCC's omp.h.
struct DependenceObject {
  const void* address;
  std::uintptr_t type;
};

DependenceList list_of_objects(int count, const DependenceObject* objects);

}  // namespace weft::openmp
