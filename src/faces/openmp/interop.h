// Objects of the interop construct (OpenMP 6.0, section 26). They come from a foreign runtime that works on a device:
// there is none, so that every object is omp_interop_none, and what can be asked is about properties in general.
#pragma once

namespace weft::openmp {

/// As omp_interop_rc_t numbers them.
enum class InteropResult : int {
  no_value = 1,
  success = 0,
  empty = -1,
  out_of_range = -2,
  type_int = -3,
  type_ptr = -4,
  type_str = -5,
  other = -6,
};

/// What comes of asking omp_interop_none for a property.
InteropResult ask_for_property(int property);

/// nullptr where the number stands for none.
const char* property_name(int property);
const char* interop_result_text(int result);

}  // namespace weft::openmp
