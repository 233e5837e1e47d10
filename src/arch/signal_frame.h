// What the kernel builds on a stack when it calls a handler: where that returns to, the context of what was interrupted
// with its vector registers, and the siginfo. And how to have the handler on another stack, with all of that.
#pragma once

#include <csignal>
#include <cstdint>
#include <ucontext.h>

#include "arch/interrupted.h"
#include "signal_frame_isa.h"

namespace weft::arch {

/// Whether the kernel has changed stacks for the handler.
inline bool came_to_alternate_stack(const ucontext_t& interrupted) {
  const stack_t& alternate = interrupted.uc_stack;
  const auto holds = [&alternate](std::uintptr_t address) {
    return address - reinterpret_cast<std::uintptr_t>(alternate.ss_sp) < alternate.ss_size;
  };
  return (alternate.ss_flags & SS_DISABLE) == 0 && holds(reinterpret_cast<std::uintptr_t>(&interrupted)) &&
         !holds(interrupted_stack_pointer(interrupted));
}

/// From the lowest byte on. bytes == 0: the two do not lie in one that the kernel has built; they are somebody's
/// copies.
struct SignalFrame {
  char* begin = nullptr;
  std::size_t bytes = 0;
};
inline SignalFrame signal_frame_of(const siginfo_t& info, const ucontext_t& context) {
  return isa_signal_frame_of<SignalFrame>(info, context);
}

/// Where the kernel would have built it, for a handler without SA_ONSTACK: its lowest byte.
inline char* place_where_interrupted(const SignalFrame& frame, const ucontext_t& context) {
  return isa_place_where_interrupted(frame.begin, frame.bytes, context);
}

/// Copies the frame to `place`, and changes its context so that the return from the present handler calls handler(
/// signal, info, context) there, with the copy, and as the kernel calls one. What `context` was of goes on when that
/// one returns. The caller sees to context.uc_sigmask: what is blocked in that handler.
inline void hand_over_at(char* place, const SignalFrame& frame, int signal, const siginfo_t& info, ucontext_t& context,
                         void (*handler)(int, siginfo_t*, void*)) {
  isa_hand_over_at(place, frame.begin, frame.bytes, signal, info, context, handler);
}

}  // namespace weft::arch
