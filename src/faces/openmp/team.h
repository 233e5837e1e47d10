// Teams: what the members of one parallel region share. A team is a range, not a list: members are
// numbers in `share` until somebody starts them (members.cpp).
//
// Teams are never given back to the system: a worker keeps those it has closed and opens the next
// region with the one closed last, at whatever nesting level and of whatever size. Thieves may
// therefore look at a team that has been closed, and at one that was opened again meanwhile; what
// they may take from it is decided by `share` and `pending` alone.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/kept_array.h"
#include "base/layout.h"
#include "core/pool/share.h"
#include "core/preempt.h"
#include "faces/openmp/icv.h"
#include "faces/openmp/member.h"
#include "faces/openmp/placement.h"
#include "faces/openmp/reduction_lock.h"
#include "faces/openmp/task_pool.h"
#include "faces/openmp/workshare.h"

namespace weft::openmp {

struct Seats;

struct DisplayedThread;

namespace ompt {
struct KeptThreads;
struct Region;
}  // namespace ompt

/// Where a team stands among those that enclose it.
enum class Standing : std::uint8_t {
  root,       // a thread of the program alone, in or outside regions of size 1
  outermost,  // opened by such a thread
  initial,    // one thread that begins anew: a team of a league, or a target region
  inner,      // opened within one of the last three
};

/// How members other than the master come to run.
enum class Dispatch : std::uint8_t {
  claimed,    // as numbers, by whoever finds them in the team's range
  bound,      // the same, and the KLT that one goes on on is bound to its place (only for the experiment)
  as_units,   // each as a unit that is ready from the start: it can be left with the KLT that it runs on
  at_places,  // the same, each in the pool of its place
};

struct Team {
  // What a region opens with; written before the share is opened.
  core::Share share;  // first: take() finds the team by it
  void (*function)(void*) = nullptr;
  void* data = nullptr;
  std::uintptr_t code = 0;  // of the program, which that function comes to; what is learned of members is known by it
  unsigned size = 1;
  unsigned level = 0;            // omp_get_level()
  unsigned active_level = 0;     // omp_get_active_level()
  unsigned first_construct = 0;  // 1: a combined construct; its worksharing part is in slot 0
  unsigned epoch = 0;            // of the runtime, when the region was opened
  weft_fp_control modes = 0;     // of floating-point arithmetic: the opener's, with which members begin
  Standing standing = Standing::root;
  bool activates = false;      // its master's worker, a root's, is in use for as long as it is open
  Icv icv;                     // with which implicit tasks start
  Taskgroup* group = nullptr;  // around the region, for its task reductions
  Seats* seats = nullptr;      // identities that members keep from region to region; nullptr: they do not
  core::Unit* master_unit = nullptr;
  Member master;
  Team* next = nullptr;
  // Of a team at level 0, whose thread begins a contention group.
  unsigned league_size = 1;    // omp_get_num_teams()
  unsigned league_number = 0;  // omp_get_team_num()
  // Only where regions are attended to (placement.h).
  Placement placement;
  Dispatch dispatch = Dispatch::claimed;
  void* placed_members = nullptr;  // of the size that is kept: their frames (members.cpp)
  unsigned placed_room = 0;
  void (*displayed_function)(void*) = nullptr;  // of one whose members' affinity is displayed
  void* displayed_data = nullptr;
  DisplayedThread* displayed_opener = nullptr;  // of whom the members are the threads (affinity_display.h)
  Seats* own_seats = nullptr;                   // of an initial one: of the regions that it opens
  // Only where there is a tool.
  ompt::Region* watched = nullptr;               // what it is told of
  ompt::KeptThreads* watched_threads = nullptr;  // of an initial one: of the regions that it opens
  bool own_stacks = false;                       // members run on stacks of their threads (ompt/sanitized_program.h)
  std::atomic<int> threads_in_use{0};            // besides the initial one; counted only under a thread limit

  // Written by all members.
  alignas(base::cache_line) std::atomic<std::uint64_t> pending{0};  // see Pending
  /// Of the members that are done, those whose seats nobody occupies; used for tasks only.
  base::KeptArray<std::uint64_t> vacant;
  /// Words of it in use. A late thief may look: this grows only after the array has.
  std::atomic<unsigned> vacant_words{0};
  Reductions reductions;

  alignas(base::cache_line) std::atomic<std::uint64_t> arrived{0};  // see Arrival
  std::atomic<std::uint32_t> singles{0};                            // single regions that somebody has begun
  std::atomic<std::uint32_t> copies_of{0};                          // the one that has handed over `copied` last
  base::KeptArray<std::uint32_t> passed;                            // only once it is cancelled (single.cpp)
  alignas(base::cache_line) std::atomic<std::uint32_t> round{0};    // of the barrier
  TaskWaiter* end_waiter = nullptr;                                 // the master, at the region's end
  std::atomic<core::Worker*> master_runs_on{nullptr};               // it runs members there, on top of its own stack
  void* copied = nullptr;                                           // copyprivate
  std::atomic<bool> cancelled{false};                               // the region (cancel.h)
  std::atomic<bool> worksharing_cancelled{false};                   // the worksharing region that its members are in
  ReductionSet* left_reductions = nullptr;                          // to be freed with the region; tasks.lock
  TaskPool tasks;
  WorkshareRing workshares;
};

/// The word Team::pending. Holders are those who may still touch the team: members besides the
/// master that are not done, and helpers. Members are counted again, without the helpers.
struct Pending {
  static constexpr std::uint64_t holder = 1;
  static constexpr std::uint64_t tasks_in_use = std::uint64_t{1} << 30U;  // helpers may join
  static constexpr std::uint64_t master_waits = std::uint64_t{1} << 31U;  // resume it at no holders
  static constexpr std::uint64_t member = std::uint64_t{1} << 32U;
  static constexpr std::uint64_t of_members(std::uint64_t count) { return (holder + member) * count; }
  static constexpr std::uint64_t holders(std::uint64_t word) { return word & (tasks_in_use - 1); }
  static constexpr std::uint64_t members(std::uint64_t word) { return word >> 32U; }
};

/// The word Team::arrived, of the barrier (team_barrier.cpp): members that have arrived, and tasks that those have
/// created and nobody of them has completed.
struct Arrival {
  static constexpr std::uint64_t member = 1;
  static constexpr std::uint64_t somebody_sleeps = std::uint64_t{1} << 31U;
  static constexpr std::uint64_t task = std::uint64_t{1} << 32U;
  static constexpr std::uint64_t members(std::uint64_t word) { return word & (somebody_sleeps - 1); }
  /// All of `size` are there, and no task is left.
  static constexpr bool completes(std::uint64_t word, unsigned size) { return (word & ~somebody_sleeps) == size; }
};

/// The team at level 0 around the member: the one of its root, of its league, or of its target region.
inline Team& initial_team(Member& member) {
  Team* team = member.team;
  while (team->level != 0) team = team->master.parent->team;
  return *team;
}

/// The process is a child, forked since the region was opened: what the team counts are the parent's members.
inline bool forked_inside(const Team& team) {
  return team.epoch != core::runtime.epoch.load(std::memory_order_relaxed);
}

/// Somebody has cancelled the region (cancel.h). Whoever learns of it here learns of all that was done before.
inline bool is_cancelled(const Team& team) { return team.cancelled.load(std::memory_order_acquire); }

// What the API routines ask.
inline unsigned team_size(const Member& member) { return member.team->size; }
inline unsigned level_of(const Member& member) { return member.team->level; }
inline unsigned active_level_of(const Member& member) { return member.team->active_level; }
inline bool in_final(const Member& member) { return member.task->final_; }

}  // namespace weft::openmp
