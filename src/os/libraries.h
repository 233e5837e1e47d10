// The objects that are loaded: the program, its libraries, the kernel's vdso.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>

namespace weft::os {

/// dl_iterate_phdr(3), so that a child of a fork(2) meanwhile can call it, too. Not from a handler, nor from `look`.
void for_each_object(int (*look)(dl_phdr_info* object, std::size_t size, void* argument), void* argument);

/// Whether the address lies in the object. Also from handlers.
inline bool holds(const dl_phdr_info& object, std::uintptr_t address) {
  for (int index = 0; index < object.dlpi_phnum; ++index) {
    const auto& segment = object.dlpi_phdr[index];
    if (segment.p_type == PT_LOAD && address - (object.dlpi_addr + segment.p_vaddr) < segment.p_memsz) return true;
  }
  return false;
}

}  // namespace weft::os
