#include "core/slices.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace weft::core {
namespace {

constexpr unsigned patience = 3;     // times in a row before the slice shrinks
constexpr unsigned most_fast = 64;   // and no more of them are remembered
constexpr unsigned remembered = 16;  // times of being stuck, after somebody was seen to do something
// Not stuck for so long, and nobody else is either; or others are, whose turn it may have been.
constexpr std::uint64_t rest_ns = 30ULL * 1000 * 1000;
constexpr std::uint64_t longest_turn_ns = 1000ULL * 1000 * 1000;

struct Place {
  std::atomic<const void*> group{nullptr};
  std::atomic<std::uint64_t> slice_ns{0};  // 0: the longest
  bool was_stuck = false;                  // since it was judged last
  bool goes_on = false;                    // the same
  unsigned in_a_row = 0;
  std::array<unsigned, 4> believed{};  // by Doing: units of it are thought to, for so many times of being stuck
  std::uint64_t judged_ns = 0;
  std::uint64_t stuck_ns = 0;  // when it was last judged to be
};

constexpr unsigned places = 16;
Place table[places];              // the first is nullptr's
std::uint64_t some_stuck_ns = 0;  // when any was last judged to be
std::atomic<std::uint64_t> longest_ns{SliceSettings{}.longest_ns};
std::atomic<std::uint64_t> shortest_ns{SliceSettings{}.shortest_ns};

std::uint64_t slice_of(const Place& place) {
  const std::uint64_t slice = place.slice_ns.load(std::memory_order_relaxed);
  const std::uint64_t longest = longest_ns.load(std::memory_order_relaxed);
  return slice == 0 || slice > longest ? longest : slice;
}

bool is_believed_to(const Place& place, Doing doing) { return place.believed[static_cast<unsigned>(doing)] != 0; }

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
    table[index].believed = {};
    return table[index];
  }
  return place;
}

// How short the slice of a group may be that is stuck again.
std::uint64_t shortest_of(const Place& place) {
  const std::uint64_t shortest = shortest_ns.load(std::memory_order_relaxed);
  if (is_believed_to(place, Doing::spins)) return shortest;
  if (is_believed_to(place, Doing::computes) && !is_believed_to(place, Doing::may_spin))
    return longest_ns.load(std::memory_order_relaxed);
  return std::max(shortest, least_to_compute_ns);
}

bool may_wait_for_its_turn(const Place& place, std::uint64_t now_ns) {
  const bool others_are = some_stuck_ns > place.stuck_ns && now_ns - some_stuck_ns < rest_ns;
  return !place.goes_on && now_ns - place.stuck_ns < (others_are ? longest_turn_ns : rest_ns);
}

void judge(Place& place, std::uint64_t now_ns) {
  std::uint64_t slice = slice_of(place);
  const std::uint64_t longest = longest_ns.load(std::memory_order_relaxed);
  if (place.was_stuck) {
    if (place.in_a_row < most_fast) ++place.in_a_row;
    if (place.in_a_row >= patience) slice = std::max(slice / 2, shortest_of(place));
    for (unsigned& times : place.believed)
      if (times != 0) --times;
    some_stuck_ns = place.stuck_ns = now_ns;
  } else if (!may_wait_for_its_turn(place, now_ns)) {
    if (place.in_a_row > 0)
      --place.in_a_row;
    else
      slice *= 2;
  }
  place.was_stuck = place.goes_on = false;
  place.slice_ns.store(slice < longest ? slice : 0, std::memory_order_relaxed);
  if (is_free(place)) place.believed = {};
}

}  // namespace

void set_slices(const SliceSettings& settings) {
  shortest_ns.store(settings.shortest_ns, std::memory_order_relaxed);
  longest_ns.store(settings.longest_ns, std::memory_order_relaxed);
}

bool slice_is_over(const void* group, std::uint64_t ran_ns) { return ran_ns >= most_of(slice_of(place_of(group))); }

void note_stuck(const void* group) { find_place_for(group).was_stuck = true; }
void note_going_on(const void* group) { place_of(group).goes_on = true; }

void note_doing(const void* group, Doing doing) {
  if (doing != Doing::not_known) place_of(group).believed[static_cast<unsigned>(doing)] = remembered;
}

void adapt_slices(std::uint64_t now_ns) {
  for (Place& place : table) {
    if (is_free(place)) continue;
    if (now_ns - place.judged_ns < most_of(slice_of(place))) continue;
    place.judged_ns = now_ns;
    judge(place, now_ns);
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
