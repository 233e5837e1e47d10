// KLTs of weft's own: what is the same for all of them, whoever starts them.
#pragma once

#include <cstddef>

#include "os/klt.h"
#include "os/lending_klt.h"

namespace weft::core {

/// os::start_klt(), with room for that (core/segment.h). It may run where the process may, if weft has bound the
/// caller. Else where the caller may: where the program has bound that, weft's go along.
int start_own_klt(void* (*entry)(void*), void* argument, std::size_t stack_bytes, os::Signals signals);

/// The same for one whose entry calls os::begin_lending().
template <void* (*entry)(void*)>
int start_own_lending_klt(void* argument, std::size_t stack_bytes, os::Signals signals) {
  return start_own_klt(os::call_below_room<entry>, argument, stack_bytes + os::room_for_ends, signals);
}

}  // namespace weft::core
