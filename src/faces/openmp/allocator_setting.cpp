#include "faces/openmp/allocator_setting.h"

#include <climits>

namespace weft::openmp {

using base::take_one_of;
using base::ValueReader;

namespace {

const char* const space_words[] = {"omp_default_mem_space", "omp_large_cap_mem_space", "omp_const_mem_space",
                                   "omp_high_bw_mem_space", "omp_low_lat_mem_space"};
constexpr int spaces = 5;

constexpr int most_words = 4;
struct TraitName {
  const char* word;
  TraitKey key;
  const char* values[most_words];  // none: a number
  std::uintptr_t first_value;      // of them; the others follow
};
const TraitName trait_names[] = {
    {"sync_hint", TraitKey::sync_hint, {"contended", "uncontended", "serialized", "private"}, 3},
    {"alignment", TraitKey::alignment, {}, 0},
    {"access", TraitKey::access, {"all", "thread", "pteam", "cgroup"}, 7},
    {"pool_size", TraitKey::pool_size, {}, 0},
    {"fallback", TraitKey::fallback, {"default_mem_fb", "null_fb", "abort_fb", "allocator_fb"}, 11},
    {"fb_data", TraitKey::fallback_data, {}, 0},
    {"pinned", TraitKey::pinned, {"false", "true"}, 0},
    {"partition", TraitKey::partition, {"environment", "nearest", "blocked", "interleaved"}, 15},
};
constexpr int most_traits = 16;

bool take_predefined(ValueReader& value, AllocatorHandle& handle) {
  for (handle = 1; handle <= last_predefined_allocator; ++handle)
    if (value.take_word(allocator_name(handle))) return true;
  return false;
}

bool take_word_of(ValueReader& value, const TraitName& name, std::uintptr_t& result) {
  for (int index = 0; index < most_words && name.values[index] != nullptr; ++index) {
    if (!value.take_word(name.values[index])) continue;
    result = name.first_value + static_cast<std::uintptr_t>(index);
    return true;
  }
  return false;
}

/// trait=value
bool take_trait(ValueReader& value, AllocatorTrait& trait) {
  for (const TraitName& name : trait_names) {
    if (!value.take_word(name.word)) continue;
    trait.key = static_cast<std::int32_t>(name.key);
    if (!value.take('=')) return false;
    if (name.values[0] != nullptr) return take_word_of(value, name, trait.value);
    if (name.key == TraitKey::fallback_data) return take_predefined(value, trait.value);
    long number = 0;
    if (!value.take_number(number, 1, LONG_MAX)) return false;
    trait.value = static_cast<std::uintptr_t>(number);
    return true;
  }
  return false;
}

}  // namespace

bool read_allocator(ValueReader& value, AllocatorHandle& handle) {
  if (take_predefined(value, handle)) return value.at_end();
  const int space = take_one_of(value, space_words, spaces);
  if (space == spaces) return false;
  AllocatorTrait traits[most_traits];
  int count = 0;
  if (value.take(':')) do {
      if (count == most_traits || !take_trait(value, traits[count++])) return false;
    } while (value.take(','));
  if (!value.at_end()) return false;
  handle = make_allocator(static_cast<std::uintptr_t>(space), count, traits);
  return handle != null_allocator;
}

}  // namespace weft::openmp
