// How long what belongs to one team, or to one pool, may pass no scheduling point before the watchdog takes it for
// stuck.
//
// Each group, a number that says which team or pool, has a slice of its own. It is the longest until units of that
// group have been found stuck a few times in a row; then it is halved again and again, down to the shortest. When they
// are seen to go on by themselves it doubles; or when they have not been seen stuck for a while, which is longer than
// they may have to wait for their turn beside other groups. So a team that waits in spinning barriers goes on at speed,
// and another that computes beside it keeps its long slices.
//
// Who computes for long looks the same from outside as who spins, and short slices cost him more than he gains: what
// is in a cache is the other's after each turn, and a root changes KLTs. So they are only halved so far, unless a unit
// of the group is known to spin (spinners.h); and not at all while some are known to compute, and none may spin.
//
// The watchdog alone writes; signal handlers read. There is room for a few groups: those that have no place share the
// one of nullptr, which is also that of units of which nothing is known. A place is given away when its slice is the
// longest again, so what is read for a group that is just moving is another group's slice once, and does no harm.
#pragma once

#include <cstdint>

namespace weft::core {

struct SliceSettings {
  std::uint64_t longest_ns = 10ULL * 1000 * 1000;
  std::uint64_t shortest_ns = 100ULL * 1000;
};

/// What a unit does that passes no scheduling points, as far as can be told.
enum class Doing : std::uint8_t { not_known, spins, may_spin, computes };

/// The shortest for a group of which nobody is known to spin, but somebody may.
inline constexpr std::uint64_t least_to_compute_ns = 2000ULL * 1000;

/// So much of a slice counts as all of it: looks are not that exact.
constexpr std::uint64_t most_of(std::uint64_t slice_ns) { return slice_ns - slice_ns / 8; }

inline constexpr std::uint64_t shortest_slice_ns = 50ULL * 1000;
inline constexpr std::uint64_t longest_slice_ns = 10ULL * 1000 * 1000 * 1000;

/// From now on; at once for those that there are. Any caller.
void set_slices(const SliceSettings& settings);

/// Whether a unit of the group that has run for so long has used its slice up. Also from handlers.
bool slice_is_over(const void* group, std::uint64_t ran_ns);

/// From the watchdog: some unit of the group was stuck.
void note_stuck(const void* group);
/// From the watchdog: it has gone on by itself.
void note_going_on(const void* group);
/// From the watchdog: one of its units was interrupted at that.
void note_doing(const void* group, Doing doing);
/// From the watchdog, after each look: changes the slices.
void adapt_slices(std::uint64_t now_ns);
/// After how long the watchdog has to look again: the shortest slice that any group has.
std::uint64_t next_look_ns();

}  // namespace weft::core
