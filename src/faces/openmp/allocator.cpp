// Each block has a header before its first byte, because a block can be freed without naming the
// allocator it is of, and because a pool wants back what the block took from it.
#include "faces/openmp/allocator.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/panic.h"
#include "os/pages.h"

namespace weft::openmp {
namespace {

constexpr std::uintptr_t value_default = UINTPTR_MAX;
enum Fallback : std::uintptr_t { default_memory = 11, null_fallback, abort_fallback, allocator_fallback };
constexpr std::uintptr_t last_memory_space = 4;
constexpr std::uintptr_t interleaved_partition = 18;

struct Allocator {
  std::size_t alignment = 1;
  std::size_t pool_size = SIZE_MAX;
  std::atomic<std::size_t> used{0};
  std::uintptr_t fallback = default_memory;
  AllocatorHandle fallback_data = null_allocator;
  os::PageWishes pages;

  /// The memory comes in whole pages from the kernel, not from malloc.
  bool in_pages() const { return pages.pinned || pages.interleaved; }
  bool reserve(std::size_t bytes) {
    if (pool_size == SIZE_MAX) return true;
    std::size_t before = used.load(std::memory_order_relaxed);
    do {
      if (bytes > pool_size - before) return false;
    } while (!used.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) {
    if (pool_size != SIZE_MAX) used.fetch_sub(bytes, std::memory_order_relaxed);
  }
};

struct Header {
  void* memory;          // as malloc gave it
  std::size_t size;      // asked for
  std::size_t reserved;  // taken of the pool
  AllocatorHandle handle;
};
constexpr std::size_t least_alignment = alignof(std::max_align_t);
static_assert(sizeof(Header) % least_alignment == 0);

Header& header_of(void* block) { return static_cast<Header*>(block)[-1]; }

/// nullptr: a predefined one.
Allocator* made_allocator(AllocatorHandle handle) {
  constexpr AllocatorHandle least_address = 4096;  // LLVM's omp.h has further predefined ones, for devices
  return handle >= least_address ? reinterpret_cast<Allocator*>(handle) : nullptr;
}

void* lay_out(void* memory, std::size_t alignment, const Header& header) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory) + sizeof(Header);
  auto* block = reinterpret_cast<void*>((first + alignment - 1) / alignment * alignment);
  header_of(block) = header;
  return block;
}

/// nullptr: this allocator has no memory.
void* allocate_from(AllocatorHandle handle, std::size_t alignment, std::size_t size) {
  Allocator* made = made_allocator(handle);
  if (made != nullptr && made->alignment > alignment) alignment = made->alignment;
  if (alignment < least_alignment) alignment = least_alignment;
  std::size_t bytes = sizeof(Header) + alignment - least_alignment;
  if (__builtin_add_overflow(bytes, size, &bytes)) return nullptr;
  if (made != nullptr && !made->reserve(bytes)) return nullptr;
  const bool in_pages = made != nullptr && made->in_pages();
  void* memory = in_pages ? os::map_pages(bytes, made->pages) : malloc(bytes);
  if (memory != nullptr) return lay_out(memory, alignment, {memory, size, bytes, handle});
  if (made != nullptr) made->give_back(bytes);
  return nullptr;
}

/// The allocator to try after this one; null_allocator: none.
AllocatorHandle next_of(AllocatorHandle handle, std::size_t size) {
  const Allocator* made = made_allocator(handle);
  if (made == nullptr) return null_allocator;  // another predefined one would have no more memory
  switch (made->fallback) {
    case abort_fallback:
      base::fail("Out of memory allocating %zu bytes", size);
    case default_memory:
      return default_allocator;
    case allocator_fallback:
      return made->fallback_data != null_allocator ? made->fallback_data : default_allocator;
    default:
      return null_allocator;
  }
}

bool is_power_of_two(std::size_t value) { return value != 0 && (value & (value - 1)) == 0; }

bool is_between(std::uintptr_t value, std::uintptr_t least, std::uintptr_t most) {
  return value >= least && value <= most;
}

bool set_trait(Allocator& allocator, const AllocatorTrait& trait) {
  const std::uintptr_t value = trait.value;
  const bool is_default = value == value_default;
  switch (static_cast<TraitKey>(trait.key)) {
    case TraitKey::sync_hint:
      return is_default || is_between(value, 3, 6);  // contended ... private
    case TraitKey::access:
      return is_default || is_between(value, 7, 10);  // all ... cgroup
    case TraitKey::partition:
      allocator.pages.interleaved = value == interleaved_partition;
      return is_default || is_between(value, 15, interleaved_partition);  // environment ... interleaved
    case TraitKey::pinned:
      allocator.pages.pinned = value == 1;
      return is_default || value <= 1;
    case TraitKey::alignment:
      if (!is_default) allocator.alignment = value;
      return is_power_of_two(allocator.alignment);
    case TraitKey::pool_size:
      allocator.pool_size = is_default ? SIZE_MAX : value;
      return true;
    case TraitKey::fallback:
      allocator.fallback = is_default ? default_memory : value;
      return is_between(allocator.fallback, default_memory, allocator_fallback);
    case TraitKey::fallback_data:  // (Bug: the value for the default was taken for an allocator's address.)
      allocator.fallback_data = is_default ? null_allocator : value;
      return true;
    default:
      return false;
  }
}

/// Where nothing but the size matters, malloc knows best whether the block must move.
void* grow_in_place(Header& header, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_add_overflow(size, sizeof(Header), &bytes)) return nullptr;
  const AllocatorHandle handle = header.handle;
  void* memory = realloc(header.memory, bytes);
  return memory == nullptr ? nullptr : lay_out(memory, least_alignment, {memory, size, bytes, handle});
}

// The same in a pool, which has to have room for the difference alone. nullptr: it has not, or there is no memory;
// nothing has happened.
void* grow_in_pool(Allocator& made, Header& header, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_add_overflow(size, sizeof(Header), &bytes)) return nullptr;
  const std::size_t before = header.reserved;
  const std::size_t more = bytes > before ? bytes - before : 0;
  if (more != 0 && !made.reserve(more)) return nullptr;
  void* grown = grow_in_place(header, size);
  made.give_back(grown == nullptr ? more : before + more - bytes);
  return grown;
}

}  // namespace

const char* allocator_name(AllocatorHandle handle) {
  static const char* const names[] = {
      "omp_null_allocator",   "omp_default_mem_alloc", "omp_large_cap_mem_alloc",
      "omp_const_mem_alloc",  "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",
      "omp_cgroup_mem_alloc", "omp_pteam_mem_alloc",   "omp_thread_mem_alloc",
  };
  return handle <= last_predefined_allocator ? names[handle] : "";
}

void* allocate(std::size_t alignment, std::size_t size, AllocatorHandle handle) {
  if (size == 0 || (alignment != 0 && !is_power_of_two(alignment))) return nullptr;
  while (handle != null_allocator) {
    if (void* block = allocate_from(handle, alignment, size)) return block;
    handle = next_of(handle, size);
  }
  return nullptr;
}

void* allocate_zeroed(std::size_t alignment, std::size_t count, std::size_t size, AllocatorHandle handle) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* block = allocate(alignment, bytes, handle);
  if (block != nullptr) memset(block, 0, bytes);
  return block;
}

void* reallocate(void* block, std::size_t size, AllocatorHandle handle) {
  if (size == 0) {
    deallocate(block);
    return nullptr;
  }
  Header& header = header_of(block);
  if (handle == null_allocator) handle = header.handle;
  Allocator* made = made_allocator(handle);
  const bool in_pages = made != nullptr && made->in_pages();
  if (header.handle == handle && !in_pages && header.reserved == header.size + sizeof(Header)) {
    if (made == nullptr) return grow_in_place(header, size);
    if (void* grown = grow_in_pool(*made, header, size); grown != nullptr) return grown;
  }
  void* moved = allocate(0, size, handle);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, header.size < size ? header.size : size);
  deallocate(block);
  return moved;
}

void deallocate(void* block) {
  if (block == nullptr) return;
  const Header header = header_of(block);
  Allocator* made = made_allocator(header.handle);
  if (made != nullptr) made->give_back(header.reserved);
  if (made != nullptr && made->in_pages())
    os::unmap_pages(header.memory, header.reserved);
  else
    free(header.memory);
}

AllocatorHandle make_allocator(std::uintptr_t memory_space, int trait_count, const AllocatorTrait* traits) {
  if (memory_space > last_memory_space) return null_allocator;
  void* memory = malloc(sizeof(Allocator));
  if (memory == nullptr) return null_allocator;
  auto* allocator = new (memory) Allocator;
  for (int index = 0; index < trait_count; ++index)
    if (!set_trait(*allocator, traits[index])) {
      free(memory);
      return null_allocator;
    }
  return reinterpret_cast<AllocatorHandle>(allocator);
}

void destroy_allocator(AllocatorHandle handle) { free(made_allocator(handle)); }

}  // namespace weft::openmp
