#include "core/slices.h"

#include <atomic>

namespace weft::core {
namespace {

constexpr unsigned patience = 3;    // times in a row before the slice shrinks
constexpr unsigned most_fast = 64;  // and no more of them are remembered

struct Place {
  std::atomic<const void*> group{nullptr};
  std::atomic<std::uint64_t> slice_ns{0};  // 0: the longest
  bool was_stuck = false;                  // since it was judged last
  bool waits = false;                      // the same
  unsigned waited = 0;                     // so often in a row
  unsigned in_a_row = 0;
  std::uint64_t judged_ns = 0;
};

constexpr unsigned places = 16;
Place table[places];  // the first is nullptr's
std::atomic<std::uint64_t> longest_ns{SliceSettings{}.longest_ns};
std::atomic<std::uint64_t> shortest_ns{SliceSettings{}.shortest_ns};

std::uint64_t slice_of(const Place& place) {
  const std::uint64_t slice = place.slice_ns.load(std::memory_order_relaxed);
  const std::uint64_t longest = longest_ns.load(std::memory_order_relaxed);
  return slice == 0 || slice > longest ? longest : slice;
}

bool is_free(const Place& place) {
  return place.slice_ns.load(std::memory_order_relaxed) == 0 && place.in_a_row == 0 && !place.was_stuck;
}

Place& place_of(const void* group) {
  for (unsigned index = 1; index < places; ++index)
    if (table[index].group.load(std::memory_order_relaxed) == group) return table[index];
  return table[0];
}

Place& find_place_for(const void* group) {
  Place& place = place_of(group);
  if (group == nullptr || &place != &table[0]) return place;
  for (unsigned index = 1; index < places; ++index) {
    if (!is_free(table[index])) continue;
    table[index].group.store(group, std::memory_order_relaxed);
    return table[index];
  }
  return place;
}

void judge(Place& place) {
  std::uint64_t slice = slice_of(place);
  const std::uint64_t longest = longest_ns.load(std::memory_order_relaxed);
  const std::uint64_t shortest = shortest_ns.load(std::memory_order_relaxed);
  if (place.was_stuck) {
    if (place.in_a_row < most_fast) ++place.in_a_row;
    if (place.in_a_row >= patience) slice = slice / 2 > shortest ? slice / 2 : shortest;
    place.waited = 0;
  } else if (place.waits && place.waited < patience) {
    ++place.waited;
  } else if (place.in_a_row > 0) {
    --place.in_a_row;
  } else {
    slice *= 2;
  }
  place.was_stuck = place.waits = false;
  place.slice_ns.store(slice < longest ? slice : 0, std::memory_order_relaxed);
}

}  // namespace

void set_slices(const SliceSettings& settings) {
  shortest_ns.store(settings.shortest_ns, std::memory_order_relaxed);
  longest_ns.store(settings.longest_ns, std::memory_order_relaxed);
}

bool slice_is_over(const void* group, std::uint64_t ran_ns) {
  const std::uint64_t slice = slice_of(place_of(group));
  return ran_ns >= slice - slice / 8;  // looks are not that exact
}

void note_stuck(const void* group) { find_place_for(group).was_stuck = true; }
void note_waiting(const void* group) { place_of(group).waits = true; }

void adapt_slices(std::uint64_t now_ns) {
  for (Place& place : table) {
    if (is_free(place)) continue;
    const std::uint64_t slice = slice_of(place);
    if (now_ns - place.judged_ns < slice - slice / 8) continue;
    place.judged_ns = now_ns;
    judge(place);
  }
}

std::uint64_t next_look_ns() {
  std::uint64_t shortest = longest_ns.load(std::memory_order_relaxed);
  for (const Place& place : table) {
    const std::uint64_t slice = slice_of(place);
    if (slice < shortest) shortest = slice;
  }
  return shortest;
}

}  // namespace weft::core
