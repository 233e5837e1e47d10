// The objects that are loaded: the program, its libraries, the kernel's vdso.
#pragma once

#include <cstddef>
#include <link.h>

namespace weft::os {

/// dl_iterate_phdr(3), so that a child of a fork(2) meanwhile can call it, too. Not from a handler, nor from `look`.
void for_each_object(int (*look)(dl_phdr_info* object, std::size_t size, void* argument), void* argument);

}  // namespace weft::os
