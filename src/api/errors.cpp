#include <cstring>

#include "weft/weft.h"

namespace {

struct Error {
  const char* name;
  const char* text;
};

// In the order of enum weft_error.
constexpr Error errors[] = {
    {"WEFT_OK", "it worked"},
    {"WEFT_ERR_ARGUMENT", "an argument makes no sense"},
    {"WEFT_ERR_MEMORY", "there is no memory"},
    {"WEFT_ERR_STATE", "the object is not in a state in which this can be done"},
    {"WEFT_ERR_STACKLESS", "a stackless unit cannot wait"},
    {"WEFT_ERR_SCHEDULER", "the technique needs a scheduler that is stateless"},
    {"WEFT_ERR_ACCESS", "the pool may not be used from here"},
    {"WEFT_ERR_TIMEOUT", "the time is over"},
    {"WEFT_ERR_BUSY", "somebody else holds it"},
    {"WEFT_ERR_OWNER", "the caller does not hold it"},
    {"WEFT_ERR_EMPTY", "there is nothing"},
    {"WEFT_ERR_LIMIT", "a limit of weft or of the system is reached"},
    {"WEFT_ERR_UNINITIALISED", "weft_init() has not been called, or weft_finalize() as often"},
    {"WEFT_ERR_UNSUPPORTED", "this version of weft cannot do it"},
};
constexpr Error unknown = {"unknown", "not an error of weft"};

const Error& error_of(int error) {
  constexpr int count = sizeof errors / sizeof errors[0];
  static_assert(count == WEFT_ERR_UNSUPPORTED + 1);
  return error >= 0 && error < count ? errors[error] : unknown;
}

}  // namespace

extern "C" int weft_error_errno(int error) { return error > WEFT_ERR_SYSTEM ? error - WEFT_ERR_SYSTEM : 0; }

extern "C" const char* weft_error_name(int error) {
  const char* of_system = strerrorname_np(weft_error_errno(error));
  return error > WEFT_ERR_SYSTEM && of_system != nullptr ? of_system : error_of(error).name;
}

extern "C" const char* weft_error_text(int error) {
  const char* of_system = strerrordesc_np(weft_error_errno(error));
  return error > WEFT_ERR_SYSTEM && of_system != nullptr ? of_system : error_of(error).text;
}
