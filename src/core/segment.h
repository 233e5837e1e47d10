// Segments: a flow of control that goes on, call by call, on another stack when its own runs short.
//
// For calls that nest without bound (a task that runs tasks while it waits), and for what needs more room than a stack
// may have. Caller and callee stay one unit; the caller's frames cannot run before the call has returned, as in any
// call.
#pragma once

#include <cstddef>

#include "core/unit.h"

namespace weft::core {

/// The stack that its frames are on at this moment; nullptr: a root's own, not known.
const Stack* innermost_stack(const Unit& unit);
/// The same of whichever unit runs on the calling KLT; nullptr also where none does.
const Stack* stack_in_use();

/// Bytes left on the stack of the calling unit; 0 if not known (a root on its KLT's own stack).
std::size_t stack_left();

/// Calls function(argument), on a segment where the calling unit's stack is short of room.
void call_with_room(void (*function)(void*), void* argument);

/// Calls function(argument) on a stack of at least `size` bytes taken from the worker's cache.
void call_on_segment(std::size_t size, void (*function)(void*), void* argument);

/// function(), where that is libc's, starts a KLT say, and needs more room, with what is bound at the first time, than
/// the smallest stacks have that a program may give to a unit (4 KiB). Without memory for a segment, on what is left.
/// (Bug: the first sleep of such a unit wrote below its stack.)
template <class Function>
auto with_room(Function function) {
  decltype(function()) result{};
  auto call = [&result, &function] { result = function(); };
  call_with_room([](void* argument) { (*static_cast<decltype(call)*>(argument))(); }, &call);
  return result;
}

}  // namespace weft::core
