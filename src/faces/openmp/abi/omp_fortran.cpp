// The OpenMP API routines for Fortran, as gfortran calls them: arguments by reference, omp_x_ with
// integer(4) and logical(4), omp_x_8_ with integer(8) and logical(8); the length of a character
// argument comes last, by value.
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/omp_table.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/allocator.h"
#include "faces/openmp/abi/lock_operations.h"
#include "faces/openmp/ompt/work.h"
#include "faces/openmp/routines.h"

namespace weft::openmp {
namespace {

/// What does not fit is as large or as small as can be.
int to_int(std::int64_t value) {
  if (value > INT_MAX) return INT_MAX;
  return value < INT_MIN ? INT_MIN : static_cast<int>(value);
}

template <class Integer>
int control_tool(ompt::Caller caller, const Integer* command, const Integer* modifier, void* argument) {
  return ompt::control_tool(caller, static_cast<std::uint64_t>(*command), static_cast<std::uint64_t>(*modifier),
                            argument);
}

}  // namespace

#define WEFT_OMP_GETTER(name)                                           \
  WEFT_EXPORT std::int32_t omp_##name##_() { return routines::name(); } \
  WEFT_ALSO_LLVM(omp_##name##_);
WEFT_OMP_GETTERS(WEFT_OMP_GETTER)

#define WEFT_OMP_CLOCK(name)                                      \
  WEFT_EXPORT double omp_##name##_() { return routines::name(); } \
  WEFT_ALSO_LLVM(omp_##name##_);
WEFT_OMP_CLOCKS(WEFT_OMP_CLOCK)

#define WEFT_OMP_SETTER(name)                                                                     \
  WEFT_EXPORT void omp_##name##_(const std::int32_t* value) { routines::name(*value); }           \
  WEFT_EXPORT void omp_##name##_8_(const std::int64_t* value) { routines::name(to_int(*value)); } \
  WEFT_ALSO_LLVM(omp_##name##_);
WEFT_OMP_SETTERS(WEFT_OMP_SETTER)

#define WEFT_OMP_QUERY(name)                                                                                     \
  WEFT_EXPORT std::int32_t omp_##name##_(const std::int32_t* value) { return routines::name(*value); }           \
  WEFT_EXPORT std::int32_t omp_##name##_8_(const std::int64_t* value) { return routines::name(to_int(*value)); } \
  WEFT_ALSO_LLVM(omp_##name##_);
WEFT_OMP_QUERIES(WEFT_OMP_QUERY)

WEFT_EXPORT void omp_set_schedule_(const std::uint32_t* kind, const std::int32_t* chunk) {
  routines::set_schedule(*kind, *chunk);
}
WEFT_EXPORT void omp_set_schedule_8_(const std::uint32_t* kind, const std::int64_t* chunk) {
  routines::set_schedule(*kind, to_int(*chunk));
}
WEFT_EXPORT void omp_get_schedule_(std::uint32_t* kind, std::int32_t* chunk) {
  routines::get_schedule(Dialect::gnu, kind, chunk);
}
WEFT_EXPORT void omp_get_schedule_8_(std::uint32_t* kind, std::int64_t* chunk) {
  routines::get_schedule(Dialect::gnu, kind, chunk);
}
WEFT_EXPORT void weft_get_schedule_llvm_(std::uint32_t* kind, std::int32_t* chunk) {
  routines::get_schedule(Dialect::llvm, kind, chunk);
}
WEFT_VERSION(weft_get_schedule_llvm_, "omp_get_schedule_@VERSION");

WEFT_EXPORT std::int32_t omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return routines::pause_resource(*kind, *device);
}
WEFT_EXPORT std::int32_t omp_pause_resource_all_(const std::int32_t* kind) {
  return routines::pause_resource_all(*kind);
}
WEFT_EXPORT void omp_display_env_(const std::int32_t* verbose) { display_settings(*verbose != 0); }
WEFT_EXPORT void omp_display_env_8_(const std::int64_t* verbose) { display_settings(*verbose != 0); }

WEFT_EXPORT void omp_get_place_proc_ids_(const std::int32_t* place, std::int32_t* ids) {
  routines::get_place_proc_ids(*place, ids);
}
WEFT_EXPORT void omp_get_place_proc_ids_8_(const std::int64_t* place, std::int64_t* ids) {
  routines::get_place_proc_ids(to_int(*place), ids);
}
WEFT_EXPORT void omp_get_partition_place_nums_(std::int32_t* numbers) { routines::get_partition_place_nums(numbers); }
WEFT_EXPORT void omp_get_partition_place_nums_8_(std::int64_t* numbers) { routines::get_partition_place_nums(numbers); }

WEFT_EXPORT void omp_set_affinity_format_(const char* format, std::size_t length) {
  set_affinity_format(format, length);
}
#define WEFT_AFFINITY(dialect, get_format, display, capture)                                                      \
  WEFT_EXPORT std::int32_t get_format(char* buffer, std::size_t size) {                                           \
    BoundedText text(buffer, size);                                                                               \
    write_affinity_format(dialect, text);                                                                         \
    text.pad();                                                                                                   \
    return static_cast<std::int32_t>(text.length());                                                              \
  }                                                                                                               \
  WEFT_EXPORT void display(const char* format, std::size_t length) { display_affinity(dialect, format, length); } \
  WEFT_EXPORT std::int32_t capture(char* buffer, const char* format, std::size_t size, std::size_t length) {      \
    BoundedText text(buffer, size);                                                                               \
    write_affinity(dialect, text, format, length);                                                                \
    text.pad();                                                                                                   \
    return static_cast<std::int32_t>(text.length());                                                              \
  }
WEFT_AFFINITY(Dialect::gnu, omp_get_affinity_format_, omp_display_affinity_, omp_capture_affinity_)
WEFT_AFFINITY(Dialect::llvm, weft_get_affinity_format_llvm_, weft_display_affinity_llvm_, weft_capture_affinity_llvm_)
WEFT_VERSION(weft_get_affinity_format_llvm_, "omp_get_affinity_format_@VERSION");
WEFT_VERSION(weft_display_affinity_llvm_, "omp_display_affinity_@VERSION");
WEFT_VERSION(weft_capture_affinity_llvm_, "omp_capture_affinity_@VERSION");

// Locks: omp_lock_kind is 4 bytes, the lock itself; omp_nest_lock_kind is 8, a pointer to it. In
// version OMP_1.0, from before OpenMP 3.0, a nestable lock belongs to a thread instead of a task.

WEFT_EXPORT void weft_init_lock_(Lock* lock) { init_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_destroy_lock_(Lock* lock) { destroy_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_set_lock_(Lock* lock) { set_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_unset_lock_(Lock* lock) { unset_lock(WEFT_CALLER, lock); }
WEFT_EXPORT std::int32_t weft_test_lock_(Lock* lock) { return test_lock(WEFT_CALLER, lock); }

WEFT_EXPORT void weft_init_nest_lock_(NestLock** lock) { init_nest_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_destroy_nest_lock_(NestLock** lock) { destroy_nest_lock(WEFT_CALLER, lock); }
WEFT_EXPORT void weft_unset_nest_lock_(NestLock** lock) { unset_nest_lock(WEFT_CALLER, **lock); }
WEFT_EXPORT void weft_set_nest_lock_(NestLock** lock) { set_nest_lock(WEFT_CALLER, **lock, task_as_owner()); }
WEFT_EXPORT void weft_set_nest_lock_1_0_(NestLock** lock) { set_nest_lock(WEFT_CALLER, **lock, thread_as_owner()); }
WEFT_EXPORT std::int32_t weft_test_nest_lock_(NestLock** lock) {
  return test_nest_lock(WEFT_CALLER, **lock, task_as_owner());
}
WEFT_EXPORT std::int32_t weft_test_nest_lock_1_0_(NestLock** lock) {
  return test_nest_lock(WEFT_CALLER, **lock, thread_as_owner());
}

#define WEFT_OMP_LOCK_VERSIONS(name, first_nest_lock)                          \
  WEFT_VERSION(weft_##name##_lock_, "omp_" #name "_lock_@@OMP_3.0");           \
  WEFT_VERSION(weft_##name##_lock_, "omp_" #name "_lock_@OMP_1.0");            \
  WEFT_VERSION(weft_##name##_nest_lock_, "omp_" #name "_nest_lock_@@OMP_3.0"); \
  WEFT_VERSION(first_nest_lock, "omp_" #name "_nest_lock_@OMP_1.0")
WEFT_OMP_LOCK_VERSIONS(init, weft_init_nest_lock_);
WEFT_OMP_LOCK_VERSIONS(destroy, weft_destroy_nest_lock_);
WEFT_OMP_LOCK_VERSIONS(unset, weft_unset_nest_lock_);
WEFT_OMP_LOCK_VERSIONS(set, weft_set_nest_lock_1_0_);
WEFT_OMP_LOCK_VERSIONS(test, weft_test_nest_lock_1_0_);

// LLVM's runtime has one version of them.
#define WEFT_OMP_LOCK_LLVM(name)                                    \
  WEFT_VERSION(weft_##name##_lock_, "omp_" #name "_lock_@VERSION"); \
  WEFT_VERSION(weft_##name##_nest_lock_, "omp_" #name "_nest_lock_@VERSION")
WEFT_OMP_LOCK_LLVM(init);
WEFT_OMP_LOCK_LLVM(destroy);
WEFT_OMP_LOCK_LLVM(set);
WEFT_OMP_LOCK_LLVM(unset);
WEFT_OMP_LOCK_LLVM(test);

WEFT_EXPORT void omp_init_lock_with_hint_(Lock* lock, const std::int32_t* hint) {
  init_lock(WEFT_CALLER, lock, static_cast<unsigned>(*hint));
}
WEFT_EXPORT void omp_init_nest_lock_with_hint_(NestLock** lock, const std::int32_t* hint) {
  init_nest_lock(WEFT_CALLER, lock, static_cast<unsigned>(*hint));
}

WEFT_EXPORT std::int32_t omp_control_tool_(const std::int32_t* command, const std::int32_t* modifier, void* argument) {
  return control_tool(WEFT_CALLER, command, modifier, argument);
}
WEFT_EXPORT std::int32_t omp_control_tool_8_(const std::int64_t* command, const std::int64_t* modifier,
                                             void* argument) {
  return control_tool(WEFT_CALLER, command, modifier, argument);
}
WEFT_ALSO_LLVM(omp_control_tool_);

// Devices, section 18.7, and OpenMP 6.0, section 24.

namespace {

// A function whose result is a pointer to a string: its address and length.
void give_uid(int device, const char** string, std::size_t* length) {
  *string = device_uid(device);
  *length = *string != nullptr ? std::strlen(*string) : 0;
}

}  // namespace

WEFT_EXPORT void omp_get_uid_from_device_(const char** string, std::size_t* length, std::int32_t device) {
  give_uid(device, string, length);
}
WEFT_EXPORT void omp_get_uid_from_device_8_(const char** string, std::size_t* length, std::int64_t device) {
  give_uid(to_int(device), string, length);
}
WEFT_EXPORT std::int32_t omp_get_device_from_uid_(const char* uid, std::size_t length) {
  return device_of_uid(uid, length);
}
WEFT_EXPORT std::int32_t omp_get_supported_active_league_dims_() { return routines::supported_dims; }
WEFT_EXPORT std::int32_t omp_get_supported_active_team_dims_() { return routines::supported_dims; }

// Memory. omp_alloc and its like are interoperable with C: gfortran calls the C names.

WEFT_EXPORT AllocatorHandle omp_init_allocator_(const std::intptr_t* space, const std::int32_t* count,
                                                const AllocatorTrait* traits) {
  return make_allocator(static_cast<std::uintptr_t>(*space), *count, traits);
}
WEFT_EXPORT AllocatorHandle omp_init_allocator_8_(const std::intptr_t* space, const std::int64_t* count,
                                                  const AllocatorTrait* traits) {
  return make_allocator(static_cast<std::uintptr_t>(*space), to_int(*count), traits);
}
WEFT_EXPORT void omp_destroy_allocator_(const std::intptr_t* handle) {
  destroy_allocator(static_cast<AllocatorHandle>(*handle));
}
WEFT_EXPORT void omp_set_default_allocator_(const std::intptr_t* handle) {
  routines::set_default_allocator(static_cast<AllocatorHandle>(*handle));
}
WEFT_EXPORT AllocatorHandle omp_get_default_allocator_() { return routines::get_default_allocator(); }

// Those above that no table gives their names to have them in LLVM's version too.
WEFT_ALSO_LLVM(omp_destroy_allocator_);
WEFT_ALSO_LLVM(omp_display_env_);
WEFT_ALSO_LLVM(omp_get_default_allocator_);
WEFT_ALSO_LLVM(omp_get_partition_place_nums_);
WEFT_ALSO_LLVM(omp_get_place_proc_ids_);
WEFT_ALSO_LLVM(omp_init_allocator_);
WEFT_ALSO_LLVM(omp_pause_resource_);
WEFT_ALSO_LLVM(omp_pause_resource_all_);
WEFT_ALSO_LLVM(omp_set_affinity_format_);
WEFT_ALSO_LLVM(omp_set_default_allocator_);
WEFT_ALSO_LLVM(omp_set_schedule_);

}  // namespace weft::openmp
