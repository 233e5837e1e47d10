// Entry points that came with GCC 14 and 15. Of objects for interoperability and of indirect calls on devices, the host
// knows what libgomp knows without an offloading device: nothing.
#include "faces/openmp/abi/export.h"
#include "faces/openmp/abi/gomp_depend.h"
#include "faces/openmp/allocated_by_us.h"
#include "faces/openmp/member.h"

using namespace weft::openmp;

WEFT_EXPORT void GOMP_add_alloc(const void* block) { note_allocated(block); }
WEFT_EXPORT bool GOMP_is_alloc(const void* block) { return take_allocated_note(block); }

WEFT_EXPORT void* GOMP_target_map_indirect_ptr(void* pointer) { return pointer; }

/// The interop construct. Objects that are made, and those that are destroyed, are omp_interop_none afterwards.
WEFT_EXPORT void GOMP_interop(int, int made, void*** to_make, const void*, const void*, int, void**, int destroyed,
                              void*** to_destroy, unsigned, void** depend) {
  if (depend != nullptr) wait_for_dependences(this_member(), list_of(depend));
  for (int index = 0; index < made; ++index) *to_make[index] = nullptr;
  for (int index = 0; index < destroyed; ++index) *to_destroy[index] = nullptr;
}
