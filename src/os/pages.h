// Memory in whole pages, for those who want something of the pages.
#pragma once

#include <cstddef>

namespace weft::os {

/// Bytes; what is protected and mapped at least.
inline constexpr std::size_t page = 4096;

struct PageWishes {
  bool pinned = false;       // never paged out; without that, there is no memory
  bool interleaved = false;  // over the memory nodes, as far as the kernel does it
};

/// nullptr: there is no memory, or it cannot be pinned (RLIMIT_MEMLOCK).
void* map_pages(std::size_t bytes, PageWishes wishes);
void unmap_pages(void* pages, std::size_t bytes);

}  // namespace weft::os
