// Members: the threads of OpenMP. A member is a seat in a team with what belongs to it alone: its
// number, its implicit task, how far it has come in the team's worksharing constructs.
//
// The member of a thread that runs lives wherever is cheapest: that of a team's master inside the
// team, that of every other at the top of the stack it borrowed (members.cpp), that of a thread of
// the program outside any region in its Root (root.h). Unit::face points to the member a unit is.
#pragma once

#include <cstdint>

#include "base/relaxed.h"
#include "core/scheduler.h"
#include "faces/openmp/icv.h"
#include "faces/openmp/league.h"
#include "faces/openmp/task.h"

namespace weft::openmp {

struct Team;
struct TaskSeat;
struct Workshare;

/// Where a member is in the loop (or sections) it works on; iterations are counted from 0.
struct LoopPosition {
  Workshare* shared = nullptr;        // nullptr: in none
  std::uint64_t chunks_taken = 0;     // static schedules
  std::uint64_t first = 0, last = 0;  // the chunk in hand, [first, last)
  bool ordered = false;               // the chunk's turn must be passed on
  bool attended = false;              // that, or a tool is told of chunks
};

/// Clauses that the compiler states before the region that they are for: the next one, and no other.
struct PushedClauses {
  unsigned threads = 0;              // num_threads; 0: not stated
  int inner_threads = 0;             // what a list has for the regions within (nthreads_list.h); 0: nothing
  bool strict = false;               // fewer are an error, or worth a line
  bool fatal = false;                // which of the two
  ProcBind bind = ProcBind::false_;  // proc_bind; false: not stated. Only where there are places
  const char* message = nullptr;     // of that line
  LeagueRequest league;
};

struct Member {
  Task* task = nullptr;                    // the one it executes: &implicit, or an explicit one
  Team* team = nullptr;                    // outside any region, that of its root (root.h)
  Member* parent = nullptr;                // of a master and its team: who opened the region
  unsigned number = 0;                     // omp_get_thread_num()
  std::uint32_t reductions = 0;            // met so far
  std::uint64_t constructs = 0;            // worksharing constructs met so far; names the next one's slot
  std::uint32_t singles = 0;               // single regions met so far
  base::Relaxed<std::uint32_t> copies{0};  // the one whose copies it has handed over last (single.cpp), or:
  TaskSeat* seat = nullptr;                // once tasks are used in the team
  std::uint32_t polls = 0;                 // for cancellation, in vain
  LoopPosition loop;
  Workshare* doacross = nullptr;  // of a loop that the compiler shares out by itself
  PushedClauses pushed;
  Task implicit;

  // Values of `copies`.
  static constexpr std::uint32_t has_left = UINT32_MAX;              // a master: it is at the end of the region
  static constexpr std::uint32_t waits_for_copies = UINT32_MAX - 1;  // of another
};

/// The calling thread, which is new, becomes a root.
Member& make_root();

/// The member that the worker's root is, or one of an initial team: nothing runs there, but a handler of the program's
/// over weft's scheduler asks.
Member& member_between_units(core::Worker& worker);

/// The member that the calling thread is; nullptr if it is new.
inline Member* known_member() {
  core::Worker* worker = core::this_worker();
  if (worker == nullptr) return nullptr;
  if (worker->current == nullptr) [[unlikely]]
    return &member_between_units(*worker);
  return static_cast<Member*>(details(*worker->current).face);
}
/// The same; makes the thread a root if it is new.
inline Member& this_member() {
  Member* member = known_member();
  return member != nullptr ? *member : make_root();
}

inline Icv& icv_of(Member& member) { return member.task->icv; }

}  // namespace weft::openmp
