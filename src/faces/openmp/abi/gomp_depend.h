// The depend clauses as GCC's compilers write them down, in one of two forms. depend[0] != 0: total, writers, then the
// addresses, writers first. depend[0] == 0: total, writers, mutexinoutset, readers, then the addresses in that order,
// then addresses of depobjs. inoutset comes as one of the latter, omp_all_memory as a writer of address 0.
#pragma once

#include <cstdint>

#include "faces/openmp/dependence.h"

namespace weft::openmp {

enum GccDepobj : std::uintptr_t { depobj_in = 1, depobj_out, depobj_inout, depobj_mutexinoutset, depobj_inoutset };

inline std::uintptr_t word_of_depend(const void* source, std::size_t index) {
  return reinterpret_cast<std::uintptr_t>(static_cast<void* const*>(source)[index]);
}

inline Dependence short_depend(const void* source, std::size_t index) {
  const auto address = static_cast<void* const*>(source)[2 + index];
  return {address, index < word_of_depend(source, 1) ? Access::writes : Access::reads};
}

inline Dependence long_depend(const void* source, std::size_t index) {
  void* const address = static_cast<void* const*>(source)[5 + index];
  std::size_t last = word_of_depend(source, 2);
  if (index < last) return {address, Access::writes};
  if (index < (last += word_of_depend(source, 3))) return {address, Access::excludes};
  if (index < last + word_of_depend(source, 4)) return {address, Access::reads};
  switch (word_of_depend(address, 1)) {
    case depobj_in:
      return {*static_cast<void**>(address), Access::reads};
    case depobj_mutexinoutset:
      return {*static_cast<void**>(address), Access::excludes};
    case depobj_inoutset:
      return {*static_cast<void**>(address), Access::sets};
    default:
      return {*static_cast<void**>(address), Access::writes};
  }
}

inline DependenceList list_of(void** depend) {
  if (word_of_depend(depend, 0) != 0) return {depend, word_of_depend(depend, 0), short_depend};
  return {depend, word_of_depend(depend, 1), long_depend};
}

}  // namespace weft::openmp
