// The routines that LLVM's and Intel's runtime adds to OpenMP's: kmp_ for C, the same with an underscore behind and
// arguments by reference for Fortran, kmpc_ and ompc_ for libraries that call by value whatever the language.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/affinity_format.h"
#include "faces/openmp/affinity_mask.h"
#include "faces/openmp/kmp_defaults.h"
#include "faces/openmp/routines.h"
#include "faces/openmp/thread_number.h"

namespace weft::openmp {
namespace {

// ---------------------------------------------------------------- what a routine asks of the runtime

// How the program wants its processors used: by one thread, by waiting threads that do not let go of them, or as the
// environment says.
enum Library : int { serial = 1, turnaround = 2, throughput = 3 };
std::atomic<int> library{throughput};

void set_library(int kind) {
  if (kind < serial || kind > throughput) return;
  library = kind;
  icv_of(this_member()).thread_limit = kind == serial ? 1 : settings.icv.thread_limit;
  static const WaitPolicy of_environment = settings.wait_policy;
  settings.wait_policy = kind == turnaround ? WaitPolicy::active : of_environment;
}
int get_library() { return library; }

void* allocate_aligned(std::size_t size, std::size_t alignment) {
  void* memory = nullptr;
  const std::size_t least = alignment < sizeof(void*) ? sizeof(void*) : alignment;
  return posix_memalign(&memory, least, size) == 0 ? memory : nullptr;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

// ---------------------------------------------------------------- settings

// C's name, and Fortran's.
#define WEFT_KMP_SETTER(name, T, call)                    \
  WEFT_EXPORT void kmp_##name(T value) { call; }          \
  WEFT_EXPORT void kmp_##name##_(const T* by_reference) { \
    const T value = *by_reference;                        \
    call;                                                 \
  }
#define WEFT_KMP_GETTER(name, T, call)        \
  WEFT_EXPORT T kmp_##name() { return call; } \
  WEFT_EXPORT T kmp_##name##_() { return call; }
#define WEFT_KMP_ACTION(name, call)       \
  WEFT_EXPORT void kmp_##name() { call; } \
  WEFT_EXPORT void kmp_##name##_() { call; }

WEFT_KMP_SETTER(set_stacksize, int, set_stack_size(value < 0 ? 0 : static_cast<std::size_t>(value)))
WEFT_KMP_SETTER(set_stacksize_s, std::size_t, set_stack_size(value))
WEFT_KMP_GETTER(get_stacksize, int, static_cast<int>(get_stack_size()))
WEFT_KMP_GETTER(get_stacksize_s, std::size_t, get_stack_size())
WEFT_KMP_SETTER(set_blocktime, int, set_block_time(value))
WEFT_KMP_GETTER(get_blocktime, int, get_block_time())
WEFT_KMP_SETTER(set_library, int, set_library(value))
WEFT_KMP_GETTER(get_library, int, get_library())
WEFT_KMP_ACTION(set_library_serial, set_library(serial))
WEFT_KMP_ACTION(set_library_turnaround, set_library(turnaround))
WEFT_KMP_ACTION(set_library_throughput, set_library(throughput))
// A team's worksharing constructs need no such number.
WEFT_KMP_SETTER(set_disp_num_buffers, int, (void)value)
// What there is to warn of has been said when the library was loaded.
WEFT_KMP_ACTION(set_warnings_on, )
WEFT_KMP_ACTION(set_warnings_off, )
WEFT_KMP_GETTER(get_num_known_threads, int, thread_numbers_given())

#define WEFT_KMPC_SETTER(name, T) \
  WEFT_EXPORT void kmpc_##name(T value) { kmp_##name(value); }
WEFT_KMPC_SETTER(set_stacksize, int)
WEFT_KMPC_SETTER(set_stacksize_s, std::size_t)
WEFT_KMPC_SETTER(set_blocktime, int)
WEFT_KMPC_SETTER(set_library, int)
WEFT_KMPC_SETTER(set_disp_num_buffers, int)

WEFT_EXPORT void kmp_set_defaults(const char* text) { set_defaults(text, strlen(text)); }
WEFT_EXPORT void kmpc_set_defaults(const char* text) { set_defaults(text, strlen(text)); }
WEFT_EXPORT void kmp_set_defaults_(const char* text, int length) {
  set_defaults(text, length < 0 ? 0 : static_cast<std::size_t>(length));
}

// ---------------------------------------------------------------- affinity

WEFT_EXPORT int kmp_get_affinity_max_proc() { return most_cpus(); }
WEFT_EXPORT int kmp_get_affinity_max_proc_() { return most_cpus(); }
#define WEFT_KMP_MASK(suffix)                                                                     \
  WEFT_EXPORT void kmp_create_affinity_mask##suffix(void** mask) { *mask = new_affinity_mask(); } \
  WEFT_EXPORT void kmp_destroy_affinity_mask##suffix(void** mask) {                               \
    delete_affinity_mask(*mask);                                                                  \
    *mask = nullptr;                                                                              \
  }                                                                                               \
  WEFT_EXPORT int kmp_set_affinity##suffix(void** mask) { return set_thread_affinity(*mask); }    \
  WEFT_EXPORT int kmp_get_affinity##suffix(void** mask) { return get_thread_affinity(*mask); }
WEFT_KMP_MASK()
WEFT_KMP_MASK(_)

#define WEFT_KMP_MASK_PROC(name, function)                                                                \
  WEFT_EXPORT int kmp_##name##_affinity_mask_proc(int cpu, void** mask) { return function(cpu, *mask); }  \
  WEFT_EXPORT int kmpc_##name##_affinity_mask_proc(int cpu, void** mask) { return function(cpu, *mask); } \
  WEFT_EXPORT int kmp_##name##_affinity_mask_proc_(const int* cpu, void** mask) { return function(*cpu, *mask); }
WEFT_KMP_MASK_PROC(set, add_to_affinity_mask)
WEFT_KMP_MASK_PROC(unset, remove_from_affinity_mask)
WEFT_KMP_MASK_PROC(get, is_in_affinity_mask)

// For a thread that must not keep the affinity that the runtime gave it: weft has given it none.
WEFT_EXPORT void kmp_set_thread_affinity_mask_initial() {}

// ---------------------------------------------------------------- memory

WEFT_EXPORT void* kmp_malloc(std::size_t size) { return std::malloc(size); }
WEFT_EXPORT void* kmp_malloc_(const std::size_t* size) { return std::malloc(*size); }
WEFT_EXPORT void* kmpc_malloc(std::size_t size) { return std::malloc(size); }
WEFT_EXPORT void* kmp_aligned_malloc(std::size_t size, std::size_t alignment) {
  return allocate_aligned(size, alignment);
}
WEFT_EXPORT void* kmp_aligned_malloc_(const std::size_t* size, const std::size_t* alignment) {
  return allocate_aligned(*size, *alignment);
}
WEFT_EXPORT void* kmpc_aligned_malloc(std::size_t size, std::size_t alignment) {
  return allocate_aligned(size, alignment);
}
WEFT_EXPORT void* kmp_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
WEFT_EXPORT void* kmp_calloc_(const std::size_t* count, const std::size_t* size) { return std::calloc(*count, *size); }
WEFT_EXPORT void* kmpc_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
WEFT_EXPORT void* kmp_realloc(void* block, std::size_t size) { return std::realloc(block, size); }
WEFT_EXPORT void* kmp_realloc_(void** block, const std::size_t* size) { return std::realloc(*block, *size); }
WEFT_EXPORT void* kmpc_realloc(void* block, std::size_t size) { return std::realloc(block, size); }
WEFT_EXPORT void kmp_free(void* block) { std::free(block); }
WEFT_EXPORT void kmp_free_(void** block) { std::free(*block); }
WEFT_EXPORT void kmpc_free(void* block) { std::free(block); }

// ---------------------------------------------------------------- OpenMP's routines, by value

WEFT_EXPORT void ompc_set_num_threads(int value) { routines::set_num_threads(value); }
WEFT_EXPORT void ompc_set_dynamic(int value) { routines::set_dynamic(value); }
WEFT_EXPORT void ompc_set_nested(int value) { routines::set_nested(value); }
WEFT_EXPORT void ompc_set_max_active_levels(int value) { routines::set_max_active_levels(value); }
WEFT_EXPORT void ompc_set_schedule(unsigned kind, int chunk) { routines::set_schedule(kind, chunk); }
WEFT_EXPORT int ompc_get_ancestor_thread_num(int level) { return routines::get_ancestor_thread_num(level); }
WEFT_EXPORT int ompc_get_team_size(int level) { return routines::get_team_size(level); }
WEFT_EXPORT void ompc_set_affinity_format(const char* format) { set_affinity_format(format); }
WEFT_EXPORT std::size_t ompc_get_affinity_format(char* buffer, std::size_t size) {
  return get_affinity_format(Dialect::llvm, buffer, size);
}
WEFT_EXPORT void ompc_display_affinity(const char* format) { display_affinity(Dialect::llvm, format); }
WEFT_EXPORT std::size_t ompc_capture_affinity(char* buffer, std::size_t size, const char* format) {
  return capture_affinity(Dialect::llvm, buffer, size, format);
}
WEFT_VERSION(ompc_get_affinity_format, "omp_get_affinity_format@VERSION");
WEFT_VERSION(ompc_display_affinity, "omp_display_affinity@VERSION");
WEFT_VERSION(ompc_capture_affinity, "omp_capture_affinity@VERSION");
