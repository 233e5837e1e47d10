// The routines for objects of the interop construct, in C, and as gfortran and LLVM's Fortran compiler call them.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "faces/openmp/abi/export.h"
#include "faces/openmp/interop.h"

namespace weft::openmp {
namespace {

template <class T>
T no_property(int property, int* result) {
  if (result != nullptr) *result = static_cast<int>(ask_for_property(property));
  return T{};
}

// A Fortran function whose result is a pointer to a string: its address and length.
void give_string(const char* text, const char** string, std::size_t* length) {
  *string = text;
  *length = text != nullptr ? std::strlen(text) : 0;
}

}  // namespace
}  // namespace weft::openmp

using namespace weft::openmp;

WEFT_EXPORT int omp_get_num_interop_properties(const void*) { return 0; }
WEFT_EXPORT std::intptr_t omp_get_interop_int(const void*, int property, int* result) {
  return no_property<std::intptr_t>(property, result);
}
WEFT_EXPORT void* omp_get_interop_ptr(const void*, int property, int* result) {
  return no_property<void*>(property, result);
}
WEFT_EXPORT const char* omp_get_interop_str(const void*, int property, int* result) {
  return no_property<const char*>(property, result);
}
WEFT_EXPORT const char* omp_get_interop_name(const void*, int property) { return property_name(property); }
WEFT_EXPORT const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
WEFT_EXPORT const char* omp_get_interop_rc_desc(const void*, int result) { return interop_result_text(result); }

// gfortran: the arguments by value, as for the routines above that it calls by their C names.
WEFT_EXPORT void omp_get_interop_str_(const char** string, std::size_t* length, const void*, int property,
                                      int* result) {
  give_string(no_property<const char*>(property, result), string, length);
}
WEFT_EXPORT void omp_get_interop_name_(const char** string, std::size_t* length, const void*, int property) {
  give_string(property_name(property), string, length);
}
WEFT_EXPORT void omp_get_interop_type_desc_(const char** string, std::size_t* length, const void*, int) {
  give_string(nullptr, string, length);
}
WEFT_EXPORT void omp_get_interop_rc_desc_(const char** string, std::size_t* length, const void*, int result) {
  give_string(interop_result_text(result), string, length);
}

// In LLVM's version both names are C's function.
#define WEFT_INTEROP_LLVM(name)                \
  WEFT_ALSO_LLVM(name);                        \
  WEFT_DEFINE_JUMP(weft_llvm_##name##_, name); \
  WEFT_VERSION(weft_llvm_##name##_, #name "_@VERSION")
WEFT_INTEROP_LLVM(omp_get_num_interop_properties);
WEFT_INTEROP_LLVM(omp_get_interop_int);
WEFT_INTEROP_LLVM(omp_get_interop_ptr);
WEFT_INTEROP_LLVM(omp_get_interop_str);
WEFT_INTEROP_LLVM(omp_get_interop_name);
WEFT_INTEROP_LLVM(omp_get_interop_type_desc);
WEFT_INTEROP_LLVM(omp_get_interop_rc_desc);
