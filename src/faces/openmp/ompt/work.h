// What a tool is told of worksharing constructs, masked, dispatched chunks, and of what happens at a moment.
#pragma once

#include <cstdint>

#include "faces/openmp/cancel.h"
#include "faces/openmp/ompt/events.h"
#include "faces/openmp/ompt/records.h"

namespace weft::openmp {
struct Loop;
}

namespace weft::openmp::ompt {

void remember_caller(Caller caller);
/// For an entry point that begins a construct: from where it is called.
inline void note_caller(Caller caller) {
  if (watched) [[unlikely]]
    remember_caller(caller);
}

/// Loops and sections of the runtime's. In a combined construct, what the master prepares is told of each member.
void loop_begins(Member& member, const Loop& loop);
void combined_loop_begins(Team& team, const Loop& loop);
void combined_loop_begins(Member& member);
void loop_ends(Member& member);
/// The member has taken `count` iterations from number `first` on.
void chunk_is_taken(Member& member, std::uint64_t first, std::uint64_t count);

/// Loops that the compiler makes, from what the runtime tells it of its part: a member's first chunk.
void static_loop_begins(Caller caller, WorkKind kind, std::uint64_t trips, DispatchChunk chunk);
void static_loop_ends(Caller caller);

/// single. `ends`: the compiler tells where it does.
bool watched_single(Caller caller, bool ends);
void single_ends(Caller caller);
/// Of one whose end nobody tells: the member does something else.
void end_of_single(ImplicitRecord& task);

/// scope: from its begin to its end.
void scope_changes(Caller caller, Endpoint endpoint);

/// masked and master: the calling member executes it.
void masked_changes(Caller caller, Endpoint endpoint);

/// A reduction is put together by the calling member.
void reduction_changes(Caller caller, Endpoint endpoint);

void tell_flush(Caller caller);
void tell_error(Caller caller, Severity severity, const char* message, std::size_t length);

/// cancel and cancellation point, of `kind` (CancelFlag).
bool watched_cancel(Caller caller, Cancellable region, int kind);
bool watched_cancellation_point(Caller caller, Cancellable region, int kind);

/// omp_control_tool.
int control_tool(Caller caller, std::uint64_t command, std::uint64_t modifier, void* argument);

/// ordered(n): the iteration is posted (source), or another awaited (sink). `place` are `count` values.
void tell_doacross(DependenceKind kind, const std::uint64_t* place, unsigned count);

}  // namespace weft::openmp::ompt
