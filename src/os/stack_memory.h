// Memory for stacks: reserved address space that costs pages only where it is touched, with a guard
// at its low end.
#pragma once

#include <cstddef>

namespace weft::os {

struct StackMemory {
  char* low = nullptr;  // lowest usable byte; the guard lies below
  std::size_t size = 0;
  std::size_t guard = 0;  // bytes; 0: there could be none, which is said once (vm.max_map_count, before Linux 6.13)
  unsigned valgrind_number = 0;  // Valgrind has been told of it: else it takes a switch for a stack that has grown
};

/// Maps `size` usable bytes (a multiple of the page size). low == nullptr if there is no memory. Executable where the
/// program or a library that it has loaded asks for executable stacks (PT_GNU_STACK), as libc's are then: compilers put
/// code there for GNU C's nested functions and Fortran's internal procedures that are passed as arguments.
StackMemory map_stack(std::size_t size);
/// The same for one that was mapped before such a library was loaded. False: it is not to be executable. From signal
/// handlers too.
bool make_executable(const StackMemory& memory);
void unmap_stack(const StackMemory& memory);

/// The stack size that a new thread of this process gets by default, in bytes (RLIMIT_STACK).
std::size_t default_stack_size();

}  // namespace weft::os
