// Which variables have memory of an OpenMP allocator: allocatables of Fortran that the allocators construct was applied
// to (OpenMP 5.2, 6.7) may be freed or grown by code that does not know of it, so that compilers ask here first.
#pragma once

namespace weft::openmp {

/// The block was given by an allocator. nullptr is ignored.
void note_allocated(const void* block);

/// Whether it was noted, which ends with the question: whoever asks frees or replaces the block.
bool take_allocated_note(const void* block);

/// In a forked child.
void reset_allocated_notes();

}  // namespace weft::openmp
