#include "faces/openmp/interop.h"

#include <cstddef>

namespace weft::openmp {
namespace {

// From -1 downwards.
constexpr const char* properties[] = {"fr_id",    "fr_name", "vendor",         "vendor_name", "device_num",
                                      "platform", "device",  "device_context", "targetsync"};
constexpr int last_property = -static_cast<int>(sizeof properties / sizeof *properties);

struct ResultText {
  InteropResult result;
  const char* text;
};
constexpr ResultText results[] = {
    {InteropResult::no_value, "the property has no value that would mean anything"},
    {InteropResult::success, "the property has been read"},
    {InteropResult::empty, "the object is omp_interop_none"},
    {InteropResult::out_of_range, "there is no property with that number"},
    {InteropResult::type_int, "the property is an integer, for omp_get_interop_int"},
    {InteropResult::type_ptr, "the property is a pointer, for omp_get_interop_ptr"},
    {InteropResult::type_str, "the property is a string, for omp_get_interop_str"},
    {InteropResult::other, "the property cannot be read here"},
};

bool is_property(int property) { return property < 0 && property >= last_property; }

}  // namespace

InteropResult ask_for_property(int property) {
  return is_property(property) ? InteropResult::empty : InteropResult::out_of_range;
}

const char* property_name(int property) { return is_property(property) ? properties[-1 - property] : nullptr; }

const char* interop_result_text(int result) {
  for (const ResultText& entry : results)
    if (static_cast<int>(entry.result) == result) return entry.text;
  return nullptr;
}

}  // namespace weft::openmp
