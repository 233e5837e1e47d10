// The places that a variable lists, while its value is read.
#pragma once

#include <cstddef>
#include <cstdlib>

#include "base/panic.h"
#include "os/cpu_set.h"

namespace weft::openmp {

inline constexpr long most_places = 65536;

/// A list that grows while a value is read.
struct PlaceList {
  os::CpuSet* sets = nullptr;
  long count = 0;
  long room = 0;
  bool foreign = false;

  bool add(const os::CpuSet& set) {
    if (count == most_places) return false;
    if (count == room) {
      room = room == 0 ? 16 : room * 2;
      sets = static_cast<os::CpuSet*>(realloc(sets, static_cast<std::size_t>(room) * sizeof(os::CpuSet)));
      if (sets == nullptr) base::panic("no memory for %ld places", room);
    }
    sets[count++] = set;
    return true;
  }
  long find(const os::CpuSet& set) const {  // `count`: it is not there
    long index = 0;
    while (index < count && !(sets[index] == set)) ++index;
    return index;
  }
  bool remove(const os::CpuSet& set) {
    long index = find(set);
    if (index == count) return false;
    for (--count; index < count; ++index) sets[index] = sets[index + 1];
    return true;
  }
};

/// They are the places of the process from now on; the list is theirs.
void take_places(const PlaceList& list);

}  // namespace weft::openmp
