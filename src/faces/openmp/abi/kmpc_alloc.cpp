// LLVM's entry points for memory allocators, and the allocators' handles as symbols.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/kmpc.h"
#include "faces/openmp/allocator.h"
#include "faces/openmp/routines.h"

namespace weft::openmp {
namespace {

AllocatorHandle or_default(AllocatorHandle handle) {
  return handle != null_allocator ? handle : routines::get_default_allocator();
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT void* __kmpc_alloc(Gtid, std::size_t size, AllocatorHandle handle) {
  return allocate(0, size, or_default(handle));
}
WEFT_EXPORT void* __kmpc_aligned_alloc(Gtid, std::size_t alignment, std::size_t size, AllocatorHandle handle) {
  return allocate(alignment, size, or_default(handle));
}
WEFT_EXPORT void* __kmpc_calloc(Gtid, std::size_t count, std::size_t size, AllocatorHandle handle) {
  return allocate_zeroed(0, count, size, or_default(handle));
}
WEFT_EXPORT void* __kmpc_realloc(Gtid, void* block, std::size_t size, AllocatorHandle handle,
                                 AllocatorHandle of_block) {
  if (block == nullptr) return allocate(0, size, or_default(handle));
  return reallocate(block, size, handle != null_allocator ? handle : of_block);
}
WEFT_EXPORT void __kmpc_free(Gtid, void* block, AllocatorHandle) { deallocate(block); }

WEFT_EXPORT AllocatorHandle __kmpc_init_allocator(Gtid, std::uintptr_t space, int count, const AllocatorTrait* traits) {
  return make_allocator(space, count, traits);
}
WEFT_EXPORT void __kmpc_destroy_allocator(Gtid, AllocatorHandle handle) { destroy_allocator(handle); }
WEFT_EXPORT void __kmpc_set_default_allocator(Gtid, AllocatorHandle handle) { routines::set_default_allocator(handle); }
WEFT_EXPORT AllocatorHandle __kmpc_get_default_allocator(Gtid) { return routines::get_default_allocator(); }

// Programs take the handles from omp.h; libraries of Intel's compilers take these.
#define WEFT_CONSTANT(name, value) WEFT_EXPORT const std::uintptr_t name = value
WEFT_CONSTANT(omp_null_allocator, 0);
WEFT_CONSTANT(omp_default_mem_alloc, 1);
WEFT_CONSTANT(omp_large_cap_mem_alloc, 2);
WEFT_CONSTANT(omp_const_mem_alloc, 3);
WEFT_CONSTANT(omp_high_bw_mem_alloc, 4);
WEFT_CONSTANT(omp_low_lat_mem_alloc, 5);
WEFT_CONSTANT(omp_cgroup_mem_alloc, 6);
WEFT_CONSTANT(omp_pteam_mem_alloc, 7);
WEFT_CONSTANT(omp_thread_mem_alloc, 8);
WEFT_CONSTANT(kmp_max_mem_alloc, 1024);
WEFT_CONSTANT(omp_default_mem_space, 0);
WEFT_CONSTANT(omp_large_cap_mem_space, 1);
WEFT_CONSTANT(omp_const_mem_space, 2);
WEFT_CONSTANT(omp_high_bw_mem_space, 3);
WEFT_CONSTANT(omp_low_lat_mem_space, 4);
