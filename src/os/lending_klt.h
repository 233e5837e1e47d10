// KLTs whose thread pointer units are to have (os/identity.h): how they are started.
//
// Where a unit ends the thread whose identity it has, libc leaps to where that thread began, on whichever KLT, and
// calls what is due at its end. The KLT that began there may be running further down the same stack: a lender that is
// not yet asleep, say. So there is room between the two: what runs from the leap to weft's own destructor, which ends
// the process with a line, the program's destructors among it, touches nothing of that KLT's. (Bug: it did, and the
// process died by SIGSEGV, before its line was out or after.)
#pragma once

#include <cstddef>

#include "os/klt.h"

namespace weft::os {

/// That much. Nothing else touches it, so it takes no memory.
inline constexpr std::size_t room_for_ends = 16UL * 1024;

/// entry(argument), below that room.
template <void* (*entry)(void*)>
void* call_below_room(void* argument) {
  void* room = __builtin_alloca(room_for_ends);
  void* (*go)(void*) = entry;
  asm volatile("" : "+r"(go) : "r"(room));  // so that the call is neither inlined nor takes this frame's place
  void* result = go(argument);
  asm volatile("" : : "r"(room));
  return result;
}

/// start_klt() for one whose entry calls begin_lending().
template <void* (*entry)(void*)>
int start_lending_klt(void* argument, std::size_t stack_bytes, Signals signals) {
  return start_klt(call_below_room<entry>, argument, stack_bytes + room_for_ends, signals);
}

}  // namespace weft::os
