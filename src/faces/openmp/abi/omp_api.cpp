// The OpenMP API routines for C and C++ (OpenMP 5.2, section 18).
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/panic.h"
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_depend.h"
#include "faces/openmp/abi/omp_table.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/allocator.h"
#include "faces/openmp/device_memory.h"
#include "faces/openmp/abi/lock_operations.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/routines.h"

namespace weft::openmp {

#define WEFT_OMP_GETTER(name)                               \
  WEFT_EXPORT int omp_##name() { return routines::name(); } \
  WEFT_ALSO_LLVM(omp_##name);
WEFT_OMP_GETTERS(WEFT_OMP_GETTER)

#define WEFT_OMP_CLOCK(name)                                   \
  WEFT_EXPORT double omp_##name() { return routines::name(); } \
  WEFT_ALSO_LLVM(omp_##name);
WEFT_OMP_CLOCKS(WEFT_OMP_CLOCK)

#define WEFT_OMP_SETTER(name)                                       \
  WEFT_EXPORT void omp_##name(int value) { routines::name(value); } \
  WEFT_ALSO_LLVM(omp_##name);
WEFT_OMP_SETTERS(WEFT_OMP_SETTER)

#define WEFT_OMP_QUERY(name)                                              \
  WEFT_EXPORT int omp_##name(int value) { return routines::name(value); } \
  WEFT_ALSO_LLVM(omp_##name);
WEFT_OMP_QUERIES(WEFT_OMP_QUERY)

WEFT_EXPORT void omp_set_schedule(unsigned kind, int chunk) { routines::set_schedule(kind, chunk); }
WEFT_EXPORT void omp_get_schedule(unsigned* kind, int* chunk) { routines::get_schedule(Dialect::gnu, kind, chunk); }
WEFT_EXPORT void weft_get_schedule_llvm(unsigned* kind, int* chunk) {
  routines::get_schedule(Dialect::llvm, kind, chunk);
}
WEFT_VERSION(weft_get_schedule_llvm, "omp_get_schedule@VERSION");

WEFT_EXPORT int omp_pause_resource(int kind, int device) { return routines::pause_resource(kind, device); }
WEFT_EXPORT int omp_pause_resource_all(int kind) { return routines::pause_resource_all(kind); }
WEFT_EXPORT void omp_display_env(int verbose) { display_settings(verbose != 0); }

WEFT_EXPORT void omp_get_place_proc_ids(int place, int* ids) { routines::get_place_proc_ids(place, ids); }
WEFT_EXPORT void omp_get_partition_place_nums(int* numbers) { routines::get_partition_place_nums(numbers); }

WEFT_EXPORT void omp_set_affinity_format(const char* format) { set_affinity_format(format); }
WEFT_EXPORT std::size_t omp_get_affinity_format(char* buffer, std::size_t size) {
  return get_affinity_format(Dialect::gnu, buffer, size);
}
WEFT_EXPORT void omp_display_affinity(const char* format) { display_affinity(Dialect::gnu, format); }
WEFT_EXPORT std::size_t omp_capture_affinity(char* buffer, std::size_t size, const char* format) {
  return capture_affinity(Dialect::gnu, buffer, size, format);
}

// Locks, section 18.9. Programs built before OpenMP 3.0 are linked against version OMP_1.0 of the same
// names, in which a nestable lock belongs to a thread and has 8 bytes: they hold a pointer to the lock.

WEFT_EXPORT void weft_init_lock(Lock* lock) { init_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_destroy_lock(Lock* lock) { destroy_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_set_lock(Lock* lock) { set_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_unset_lock(Lock* lock) { unset_lock(WEFT_CALLER, lock); }
WEFT_EXPORT int weft_test_lock(Lock* lock) { return test_lock(WEFT_CALLER, lock); }

WEFT_EXPORT void weft_init_nest_lock(NestLock* lock) {
  new (lock) NestLock;
  tell_nest_lock_made(WEFT_CALLER, lock);
}
WEFT_EXPORT void weft_destroy_nest_lock(NestLock* lock) { tell_nest_lock_destroyed(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_set_nest_lock(NestLock* lock) { set_nest_lock(WEFT_CALLER, *lock, task_as_owner()); }
WEFT_EXPORT void weft_unset_nest_lock(NestLock* lock) { unset_nest_lock(WEFT_CALLER, *lock); }
WEFT_EXPORT int weft_test_nest_lock(NestLock* lock) { return test_nest_lock(WEFT_CALLER, *lock, task_as_owner()); }

WEFT_EXPORT void weft_init_nest_lock_1_0(NestLock** lock) { init_nest_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_destroy_nest_lock_1_0(NestLock** lock) { destroy_nest_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_set_nest_lock_1_0(NestLock** lock) { set_nest_lock(WEFT_CALLER, **lock, thread_as_owner()); }
WEFT_EXPORT void weft_unset_nest_lock_1_0(NestLock** lock) { unset_nest_lock(WEFT_CALLER, **lock); }
WEFT_EXPORT int weft_test_nest_lock_1_0(NestLock** lock) {
  return test_nest_lock(WEFT_CALLER, **lock, thread_as_owner());
}

#define WEFT_OMP_LOCK_VERSIONS(name)                                         \
  WEFT_VERSION(weft_##name##_lock, "omp_" #name "_lock@@OMP_3.0");           \
  WEFT_VERSION(weft_##name##_lock, "omp_" #name "_lock@OMP_1.0");            \
  WEFT_VERSION(weft_##name##_nest_lock, "omp_" #name "_nest_lock@@OMP_3.0"); \
  WEFT_VERSION(weft_##name##_nest_lock_1_0, "omp_" #name "_nest_lock@OMP_1.0")
WEFT_OMP_LOCK_VERSIONS(init);
WEFT_OMP_LOCK_VERSIONS(destroy);
WEFT_OMP_LOCK_VERSIONS(set);
WEFT_OMP_LOCK_VERSIONS(unset);
WEFT_OMP_LOCK_VERSIONS(test);

// In LLVM's omp.h a nestable lock has room for a pointer only.
WEFT_EXPORT void weft_set_nest_lock_llvm(NestLock** lock) { set_nest_lock(WEFT_CALLER, **lock, task_as_owner()); }
WEFT_EXPORT int weft_test_nest_lock_llvm(NestLock** lock) {
  return test_nest_lock(WEFT_CALLER, **lock, task_as_owner());
}

#define WEFT_OMP_LOCK_LLVM(name, nest_lock)                       \
  WEFT_VERSION(weft_##name##_lock, "omp_" #name "_lock@VERSION"); \
  WEFT_VERSION(nest_lock, "omp_" #name "_nest_lock@VERSION")
WEFT_OMP_LOCK_LLVM(init, weft_init_nest_lock_1_0);
WEFT_OMP_LOCK_LLVM(destroy, weft_destroy_nest_lock_1_0);
WEFT_OMP_LOCK_LLVM(set, weft_set_nest_lock_llvm);
WEFT_OMP_LOCK_LLVM(unset, weft_unset_nest_lock_1_0);
WEFT_OMP_LOCK_LLVM(test, weft_test_nest_lock_llvm);

WEFT_EXPORT void omp_init_lock_with_hint(Lock* lock, std::uint32_t hint) { init_lock(WEFT_CALLER, lock, hint); }
WEFT_EXPORT void omp_init_nest_lock_with_hint(NestLock** lock, std::uint32_t hint) {
  init_nest_lock(WEFT_CALLER, lock, hint);
}

// Memory, section 18.13.

namespace {

AllocatorHandle or_default(AllocatorHandle handle) {
  return handle != null_allocator ? handle : routines::get_default_allocator();
}

}  // namespace

WEFT_EXPORT AllocatorHandle omp_init_allocator(std::uintptr_t space, int count, const AllocatorTrait* traits) {
  return make_allocator(space, count, traits);
}
WEFT_EXPORT void omp_destroy_allocator(AllocatorHandle handle) { destroy_allocator(handle); }
WEFT_EXPORT void omp_set_default_allocator(AllocatorHandle handle) { routines::set_default_allocator(handle); }
WEFT_EXPORT AllocatorHandle omp_get_default_allocator() { return routines::get_default_allocator(); }

WEFT_EXPORT void* omp_alloc(std::size_t size, AllocatorHandle handle) { return allocate(0, size, or_default(handle)); }
WEFT_EXPORT void* omp_aligned_alloc(std::size_t alignment, std::size_t size, AllocatorHandle handle) {
  return allocate(alignment, size, or_default(handle));
}
WEFT_EXPORT void* omp_calloc(std::size_t count, std::size_t size, AllocatorHandle handle) {
  return allocate_zeroed(0, count, size, or_default(handle));
}
WEFT_EXPORT void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size,
                                     AllocatorHandle handle) {
  return allocate_zeroed(alignment, count, size, or_default(handle));
}
WEFT_EXPORT void* omp_realloc(void* block, std::size_t size, AllocatorHandle handle, AllocatorHandle of_block) {
  if (block == nullptr) return allocate(0, size, or_default(handle));
  return reallocate(block, size, handle != null_allocator ? handle : of_block);
}
WEFT_EXPORT void omp_free(void* block, AllocatorHandle) { deallocate(block); }

/// The allocate clause: where there is no memory, the construct cannot go on.
WEFT_EXPORT void* GOMP_alloc(std::size_t alignment, std::size_t size, AllocatorHandle handle) {
  void* block = allocate(alignment, size, or_default(handle));
  if (block == nullptr && size != 0) base::fail("Out of memory allocating %zu bytes", size);
  return block;
}
WEFT_EXPORT void GOMP_free(void* block, AllocatorHandle) { deallocate(block); }

// Device memory, section 18.8.

WEFT_EXPORT void* omp_target_alloc(std::size_t size, int device) { return allocate_on_device(size, device); }
WEFT_EXPORT void omp_target_free(void* memory, int device) { free_on_device(memory, device); }
WEFT_EXPORT int omp_target_is_present(const void*, int device) { return has_its_memory_here(device) ? 1 : 0; }
WEFT_EXPORT int omp_target_is_accessible(const void*, std::size_t, int device) {
  return has_its_memory_here(device) ? 1 : 0;
}
WEFT_EXPORT void* omp_get_mapped_ptr(const void* address, int device) {
  return has_its_memory_here(device) ? const_cast<void*>(address) : nullptr;
}
WEFT_EXPORT int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int device) {
  check_device_of_routine(device);
  return EINVAL;  // only memory of another device can be associated
}
WEFT_EXPORT int omp_target_disassociate_ptr(const void*, int device) {
  check_device_of_routine(device);
  return EINVAL;
}
WEFT_EXPORT int omp_target_memcpy(void* to, const void* from, std::size_t size, std::size_t to_offset,
                                  std::size_t from_offset, int to_device, int from_device) {
  return copy_between_devices(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, size,
                              to_device, from_device);
}
WEFT_EXPORT int omp_target_memcpy_rect(void* to, const void* from, std::size_t element_size, int dimensions,
                                       const std::size_t* volume, const std::size_t* to_offsets,
                                       const std::size_t* from_offsets, const std::size_t* to_sizes,
                                       const std::size_t* from_sizes, int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT_MAX;  // asks how many dimensions are supported
  const RectangleCopy copy{element_size, dimensions, volume, to_offsets, from_offsets, to_sizes, from_sizes};
  return copy_rectangle(static_cast<char*>(to), static_cast<const char*>(from), copy, to_device, from_device);
}
WEFT_EXPORT int omp_target_memcpy_async(void* to, const void* from, std::size_t size, std::size_t to_offset,
                                        std::size_t from_offset, int to_device, int from_device, int count,
                                        const DependenceObject* objects) {
  return ompt::from_program(WEFT_CALLER, [&] {
    return copy_between_devices_later(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
                                      size, to_device, from_device, list_of_objects(count, objects));
  });
}
WEFT_EXPORT int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element_size, int dimensions,
                                             const std::size_t* volume, const std::size_t* to_offsets,
                                             const std::size_t* from_offsets, const std::size_t* to_sizes,
                                             const std::size_t* from_sizes, int to_device, int from_device, int count,
                                             const DependenceObject* objects) {
  if (to == nullptr && from == nullptr) return INT_MAX;
  const RectangleCopy copy{element_size, dimensions, volume, to_offsets, from_offsets, to_sizes, from_sizes};
  return ompt::from_program(WEFT_CALLER, [&] {
    return copy_rectangle_later(static_cast<char*>(to), static_cast<const char*>(from), copy, to_device, from_device,
                                list_of_objects(count, objects));
  });
}

// Of OpenMP 6.0 and 6.1, sections 24 and 25.

WEFT_EXPORT void* omp_target_memset(void* memory, int value, std::size_t size, int device) {
  return fill_on_device(memory, value, size, device);
}
WEFT_EXPORT void* omp_target_memset_async(void* memory, int value, std::size_t size, int device, int count,
                                          const DependenceObject* objects) {
  return ompt::from_program(
      WEFT_CALLER, [&] { return fill_on_device_later(memory, value, size, device, list_of_objects(count, objects)); });
}
WEFT_EXPORT const char* omp_get_uid_from_device(int device) { return device_uid(device); }
WEFT_EXPORT int omp_get_device_from_uid(const char* uid) {
  return uid != nullptr ? device_of_uid(uid, strlen(uid)) : invalid_device;
}
WEFT_EXPORT void omp_get_device_distances(int count, const int* devices, int* distances) {
  get_device_distances(count, devices, distances);
}

WEFT_EXPORT int omp_get_num_threads_dim(int dimension) { return routines::get_num_threads_dim(dimension); }
WEFT_EXPORT int omp_get_thread_num_dim(int dimension) { return routines::get_thread_num_dim(dimension); }
WEFT_EXPORT int omp_get_thread_limit_dim(int dimension) { return routines::get_thread_limit_dim(dimension); }
WEFT_EXPORT int omp_get_num_teams_dim(int dimension) { return routines::get_num_teams_dim(dimension); }
WEFT_EXPORT int omp_get_team_num_dim(int dimension) { return routines::get_team_num_dim(dimension); }
WEFT_EXPORT int omp_get_supported_active_league_dims(int, int) { return routines::supported_dims; }
WEFT_EXPORT int omp_get_supported_active_team_dims(int, int) { return routines::supported_dims; }
WEFT_EXPORT int omp_get_supported_teams_dim(int, int dimension) { return routines::along(dimension, INT_MAX, 1); }
WEFT_EXPORT int omp_get_supported_threads_dim(int, int dimension) { return routines::along(dimension, INT_MAX, 1); }

// Section 18.15.

WEFT_EXPORT int omp_control_tool(int command, int modifier, void* argument) {
  return ompt::control_tool(WEFT_CALLER, static_cast<std::uint64_t>(command), static_cast<std::uint64_t>(modifier),
                            argument);
}
WEFT_ALSO_LLVM(omp_control_tool);

// Those above that no table gives their names to have them in LLVM's version too.
WEFT_ALSO_LLVM(omp_aligned_alloc);
WEFT_ALSO_LLVM(omp_aligned_calloc);
WEFT_ALSO_LLVM(omp_alloc);
WEFT_ALSO_LLVM(omp_calloc);
WEFT_ALSO_LLVM(omp_destroy_allocator);
WEFT_ALSO_LLVM(omp_display_env);
WEFT_ALSO_LLVM(omp_free);
WEFT_ALSO_LLVM(omp_get_default_allocator);
WEFT_ALSO_LLVM(omp_get_partition_place_nums);
WEFT_ALSO_LLVM(omp_get_place_proc_ids);
WEFT_ALSO_LLVM(omp_init_allocator);
WEFT_ALSO_LLVM(omp_pause_resource);
WEFT_ALSO_LLVM(omp_pause_resource_all);
WEFT_ALSO_LLVM(omp_realloc);
WEFT_ALSO_LLVM(omp_set_affinity_format);
WEFT_ALSO_LLVM(omp_set_default_allocator);
WEFT_ALSO_LLVM(omp_set_schedule);

}  // namespace weft::openmp
