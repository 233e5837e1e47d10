// Unit-local keys: the C API.
#include "core/extras.h"
#include "weft/weft.h"

using namespace weft;

namespace {

int answer(core::KeyAnswer given) {
  switch (given) {
    case core::KeyAnswer::ok:
      return WEFT_OK;
    case core::KeyAnswer::no_such_key:
      return WEFT_ERR_ARGUMENT;
    case core::KeyAnswer::no_memory:
      return WEFT_ERR_MEMORY;
    case core::KeyAnswer::not_for_this_unit:
      return WEFT_ERR_STATE;
  }
  return WEFT_ERR_STATE;
}

}  // namespace

static_assert(core::most_keys == WEFT_KEYS_MAX);

extern "C" int weft_key_create(void (*destructor)(void*), weft_key* key) {
  if (key == nullptr) return WEFT_ERR_ARGUMENT;
  core::Key made{};
  if (!core::create_key(destructor, made)) return WEFT_ERR_LIMIT;
  *key = {made.index, made.generation};
  return WEFT_OK;
}

extern "C" int weft_key_delete(weft_key key) {
  return core::delete_key({key.index, key.generation}) ? WEFT_OK : WEFT_ERR_ARGUMENT;
}

extern "C" int weft_key_set(weft_key key, void* value) {
  return answer(core::set_value({key.index, key.generation}, value));
}

extern "C" int weft_key_get(weft_key key, void** value) {
  if (value == nullptr) return WEFT_ERR_ARGUMENT;
  return answer(core::get_value({key.index, key.generation}, value));
}
