// Segments: a flow of control that goes on, call by call, on another stack when its own runs short.
//
// For calls that nest without bound (a task that runs tasks while it waits). Caller and callee stay
// one unit; the caller's frames cannot run before the call has returned, as in any call.
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

/// Calls function(argument) on a stack of at least `size` bytes taken from the worker's cache.
void call_on_segment(std::size_t size, void (*function)(void*), void* argument);

}  // namespace weft::core
