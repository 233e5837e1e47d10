#include "os/pages.h"

#include <cerrno>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::os {
namespace {

// A wish: a kernel without memory nodes refuses, and nothing is lost.
void interleave(void* pages, std::size_t bytes) {
  constexpr unsigned long most_nodes = 1024;
  unsigned long nodes[most_nodes / (8 * sizeof(long))] = {};
  if (syscall(SYS_get_mempolicy, nullptr, nodes, most_nodes, nullptr, MPOL_F_MEMS_ALLOWED) == 0)
    syscall(SYS_mbind, pages, bytes, MPOL_INTERLEAVE, nodes, most_nodes, 0);
}

}  // namespace

void* map_pages(std::size_t bytes, PageWishes wishes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  const int kept = errno;
  if (wishes.interleaved) interleave(pages, bytes);
  const bool good = !wishes.pinned || mlock(pages, bytes) == 0;
  errno = kept;
  if (good) return pages;
  munmap(pages, bytes);
  return nullptr;
}

void unmap_pages(void* pages, std::size_t bytes) { munmap(pages, bytes); }

}  // namespace weft::os
