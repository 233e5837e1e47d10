// What a tool is told of parallel regions, leagues, and their implicit and initial tasks.
#pragma once

#include "faces/openmp/ompt/records.h"

namespace weft::openmp::ompt {

/// prepare_region(): the team's master has become member 0, no other member has begun. From here on Team::function
/// tells of each member.
void region_opens(Team& team);

/// Member 0, which the calling thread is, is done: waits for the others as in a barrier, and closes the region.
void close_watched_region(Team& team);

/// A team at level 0 begins: of a root, of a league or of a target region.
void initial_team_opens(Team& team);

/// The root, on whose KLT this is, ends.
void root_ends(core::Worker& worker, Root& root);

/// Nor does anything refer to its initial task any more.
void forget_root(Team& team);

/// The process ends: so does the initial task of the calling thread, if that is in no region.
void end_initial_task_here();

/// A member that is done is taken again, for tasks.
void seat_is_taken(Member& member);

/// The program opens a region: says from where, and what it has asked for. For the caller that calls the master's part
/// as well.
class RegionCall {
 public:
  RegionCall(Caller caller, unsigned requested, unsigned flags = invoked_by_runtime | parallel_team) : call_(caller) {
    call_.here.thread.next_region = {caller.code, requested, flags};
  }

 private:
  Call call_;
};

/// Calls the part of the calling member in its region.
void call_body(void (*function)(void*), void* argument);

/// The same for the initial thread of a team of a league, as LLVM's runtime does it: in a region of one thread, which
/// the runtime opens between the league and the regions of the team. Its tools expect that.
void call_in_region_of_its_own(void (*function)(void*), void* argument);

/// The task that opened the region stays in the runtime's frame, until the region is closed.
void keep_frame_of_opener(void* frame);

/// The program's code that is called next in the implicit task is called from that frame.
void note_frame_of_body(void* frame);

/// A region whose master's part the compiler's code calls by itself, at the frame given: between opening and closing.
template <class Open>
void open_watched_region(Caller caller, unsigned requested, void* frame, Open open) {
  {
    const RegionCall call(caller, requested, invoked_by_program | parallel_team);
    open();
  }
  keep_frame_of_opener(caller.frame);
  note_frame_of_body(frame);
}

}  // namespace weft::openmp::ompt
