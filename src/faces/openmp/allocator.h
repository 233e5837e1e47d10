// Memory allocators (OpenMP 5.2, section 6). Every memory space of a host is its main memory here, so
// the predefined allocators differ in name only; those a program makes have alignment, a pool size, a
// fallback, and may be pinned or interleaved over memory nodes. The other traits are hints.
//
// A handle is what omp_allocator_handle_t is: a small number for a predefined allocator, else the
// address of one that make_allocator() made.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::openmp {

using AllocatorHandle = std::uintptr_t;

inline constexpr AllocatorHandle null_allocator = 0;
inline constexpr AllocatorHandle default_allocator = 1;
inline constexpr AllocatorHandle last_predefined_allocator = 8;

// As omp.h numbers them.
enum class TraitKey : std::int32_t {
  sync_hint = 1,
  alignment,
  access,
  pool_size,
  fallback,
  fallback_data,
  pinned,
  partition
};

/// As omp_alloctrait_t, in C and in Fortran.
struct AllocatorTrait {
  std::int32_t key;
  std::uintptr_t value;
};

/// As omp.h writes it; "" for an allocator that the program made.
const char* allocator_name(AllocatorHandle handle);

/// `size` bytes at a multiple of `alignment` (0 or a power of two). nullptr for a size of 0, for an
/// alignment that makes no sense, and where there is no memory and the fallback is none.
void* allocate(std::size_t alignment, std::size_t size, AllocatorHandle handle);

/// As allocate(), and all bytes 0. nullptr if count * size is too large.
void* allocate_zeroed(std::size_t alignment, std::size_t count, std::size_t size, AllocatorHandle handle);

/// Moves a block to `size` bytes of another allocator; null_allocator: of its own. A size of 0 frees it.
/// On failure the block stays, and nullptr is returned.
void* reallocate(void* block, std::size_t size, AllocatorHandle handle);

void deallocate(void* block);

/// null_allocator if the memory space or a trait makes no sense or cannot be had.
AllocatorHandle make_allocator(std::uintptr_t memory_space, int trait_count, const AllocatorTrait* traits);
void destroy_allocator(AllocatorHandle handle);

}  // namespace weft::openmp
