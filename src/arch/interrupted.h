// What a signal interrupted.
#pragma once

#include "interrupted_isa.h"

namespace weft::arch {

/// The address of the instruction that would have come next.
inline std::uintptr_t interrupted_instruction(const ucontext_t& context) {
  return isa_interrupted_instruction(context);
}

/// Of the code.
inline std::uintptr_t interrupted_stack_pointer(const ucontext_t& context) {
  return isa_interrupted_stack_pointer(context);
}

/// Whether what lies there, which can be read, whatever it is, looks like what the kernel saves for a handler.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] inline bool looks_like_saved_context(const ucontext_t& there) {
  return isa_looks_like_saved_context(there);
}
constexpr std::size_t saved_context_alignment = isa_saved_context_alignment;

/// The number of the system call that comes next: it was interrupted, and begins anew. -1: none does.
inline long system_call_to_be_made(const ucontext_t& context) { return isa_system_call_to_be_made(context); }

/// What it is called with: the first of its arguments has index 0, the last 5.
inline std::uint64_t system_call_argument(const ucontext_t& context, unsigned index) {
  return isa_system_call_argument(context, index);
}

/// Whether a system call has just returned EINTR.
inline bool system_call_was_cut_short(const ucontext_t& context) { return isa_system_call_was_cut_short(context); }

/// One that was cut short comes next, with that number and its arguments, which may have been changed.
inline void set_system_call_argument(ucontext_t& context, unsigned index, std::uint64_t value) {
  isa_set_system_call_argument(context, index, value);
}
inline void make_system_call_anew(ucontext_t& context, long number) { isa_make_system_call_anew(context, number); }

/// How much a system call that has just returned says that it has transferred; 0: none has, or nothing.
inline long transferred(const ucontext_t& context) { return isa_transferred(context); }

/// Instead of going on behind such a call, the code transfers the rest of what it was to, and then goes on with the
/// sum. `address` and `size`: which of its arguments these are. The function that makes the call has no red zone.
inline void transfer_rest(ucontext_t& context, long number, unsigned address, unsigned size) {
  isa_transfer_rest(context, number, address, size);
}
/// Whether it is about to do so, or has just done it (at the instruction that may be interrupted by a wait).
inline bool makes_rest_of_transfer(const ucontext_t& context) { return isa_makes_rest_of_transfer(context); }

/// Where it goes on then.
inline std::uintptr_t goes_on_after_rest(const ucontext_t& context) { return isa_goes_on_after_rest(context); }

/// What the registers hold, the instruction pointer aside: each of the general ones, and a number for all of the vector
/// ones together (of each the lowest 16 bytes), which is another one if any of them is, as good as always.
struct Footprint {
  static constexpr unsigned general_registers = isa_general_registers;
  std::uint64_t general[general_registers];
  std::uint64_t vectors;
};
inline Footprint footprint(const ucontext_t& context) {
  Footprint of{};
  for (unsigned index = 0; index < Footprint::general_registers; ++index)
    of.general[index] = isa_general_register(context, index);
  of.vectors = isa_hash_of_vectors(context);
  return of;
}

}  // namespace weft::arch
