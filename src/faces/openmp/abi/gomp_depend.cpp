#include "faces/openmp/abi/gomp_depend.h"

#include <cstdint>

namespace weft::openmp {
namespace {

// The depend clauses, in one of two forms. depend[0] != 0: total, writers, then the addresses, writers first. depend[0]
// == 0: total, writers, mutexinoutset, readers, then the addresses in that order, then addresses of depobjs.
enum Depobj : std::uintptr_t { depobj_in = 1, depobj_out, depobj_inout, depobj_mutexinoutset, depobj_inoutset };

Dependence of_object(const DependenceObject& object) {
  switch (object.type) {
    case depobj_in:
      return {object.address, Access::reads};
    case depobj_mutexinoutset:
      return {object.address, Access::excludes};
    case depobj_inoutset:
      return {object.address, Access::sets};
    default:
      return {object.address, Access::writes};
  }
}

std::uintptr_t number_at(const void* source, std::size_t index) {
  return reinterpret_cast<std::uintptr_t>(static_cast<void* const*>(source)[index]);
}

Dependence short_form(const void* source, std::size_t index) {
  const auto address = static_cast<void* const*>(source)[2 + index];
  return {address, index < number_at(source, 1) ? Access::writes : Access::reads};
}

Dependence long_form(const void* source, std::size_t index) {
  void* const address = static_cast<void* const*>(source)[5 + index];
  std::size_t last = number_at(source, 2);
  if (index < last) return {address, Access::writes};
  if (index < (last += number_at(source, 3))) return {address, Access::excludes};
  if (index < last + number_at(source, 4)) return {address, Access::reads};
  return of_object(*static_cast<const DependenceObject*>(address));
}

Dependence object_at(const void* source, std::size_t index) {
  return of_object(static_cast<const DependenceObject*>(source)[index]);
}

}  // namespace

DependenceList list_of_objects(int count, const DependenceObject* objects) {
  const bool some = count > 0 && objects != nullptr;
  return {objects, some ? static_cast<std::size_t>(count) : 0, object_at};
}

DependenceList list_of(void* const* depend) {
  if (number_at(depend, 0) != 0) return {depend, number_at(depend, 0), short_form};
  return {depend, number_at(depend, 1), long_form};
}

}  // namespace weft::openmp
