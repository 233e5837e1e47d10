// Contexts: what a suspended flow of control is. The contract that each folder of src/arch fulfils.
//
// A context is a stack pointer; everything else that the ABI tells a callee to preserve (general
// registers, and the control bits of the floating-point units) lies on that stack.
//
// Two ways to start a function on a stack of its own, as in the dissertation:
//   start_roc  (Fig. 3.11, "return on completion"): the caller's registers are saved, then the
//              function is *called*. If nobody has resumed the caller meanwhile, the function's own
//              epilogue has restored the registers, so the way back is one return.
//   start_full (Fig. 2.4): the function never returns to the caller by itself; when it returns, the
//              finish routine is entered on the function's stack.
// A unit that was started by start_roc and deviates (its caller is resumed before it is done) must
// have its way back changed once: divert_return().
//
// `known`: the floating-point control words in force, where the caller knows them (a scheduler does: nothing in it
// changes them, and a unit that leaves gives them back). To read them costs more than the rest of a switch. spawn_roc
// and spawn_full read them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/fp_control.h"

extern "C" {

/// Saves the current context in *save and resumes `to`, where the switch (or start) that saved it
/// returns `value`. Returns the value passed by whoever resumes this context.
std::intptr_t weft_context_switch(void** save, void* to, std::intptr_t value);

/// The same for who is resumed with 0 only, and may make this the last call of a function that returns an int.
int weft_context_leave(void** save, void* to, std::intptr_t value);

/// weft_context_switch() for a caller that knows the control words.
std::intptr_t weft_context_resume(void** save, void* to, std::intptr_t value, weft_fp_control known);

/// Resumes `to` without saving anything.
[[noreturn]] void weft_context_jump(void* to, std::intptr_t value);

/// From unit to unit: as weft_context_switch() with the value 0, except that weft_unit_passed() is called on the stack
/// of `to` before it goes on.
int weft_context_pass(void** save, void* to);

/// From unit to unit where nothing has to be done about the one that is left: weft_context_switch() with the value 0.
int weft_context_swap(void** save, void* to);

/// The same, and makes that byte 0 when nothing is in use any more on the stack that is left: a store that releases.
int weft_context_swap_and_clear(void** save, void* to, void* byte);

/// weft_context_pass() to a unit that has not begun, on the stack that ends at `top`, with these control words:
/// weft_unit_begin(unit) says what to call there, and when that has returned, weft_unit_returned() who goes on.
int weft_context_pass_to_new(void** save, void* top, void* unit, weft_fp_control words);

/// The same for weft_context_swap(), and for weft_context_swap_and_clear().
int weft_context_swap_to_new(void** save, void* top, void* unit, weft_fp_control words);
int weft_context_swap_to_new_and_clear(void** save, void* top, void* unit, weft_fp_control words, void* byte);

/// What to call on the stack of a unit that begins; where both stand in what `unit` points at.
struct WeftCall {
  void (*entry)(void*);
  void* argument;
};
inline constexpr std::size_t weft_argument_offset = 8;
inline constexpr std::size_t weft_entry_offset = 24;

/// Provided by the core, on the stack of a unit to which somebody has passed the worker on: what to call there.
WeftCall weft_unit_begin(void* unit);
/// The same after a unit that has ended.
WeftCall weft_unit_begin_after_end(void* unit);

/// Provided by the core: somebody has passed the worker on to the unit on whose stack this is called.
void weft_unit_passed();
/// The same: a unit that has ended.
void weft_unit_passed_by_end();

/// Saves the current context in *save and calls entry(argument) on the stack that ends at `top`
/// (16-byte aligned). Returns 0 when entry has returned and nobody resumed *save in the meantime;
/// otherwise the value that the resumer passed.
std::intptr_t weft_context_start_roc(void** save, void* top, void (*entry)(void*), void* argument,
                                     weft_fp_control known);
std::intptr_t weft_context_spawn_roc(void** save, void* top, void (*entry)(void*), void* argument);

/// The same, except that when entry returns weft_unit_finish() is entered on its stack.
std::intptr_t weft_context_start_full(void** save, void* top, void (*entry)(void*), void* argument,
                                      weft_fp_control known);
std::intptr_t weft_context_spawn_full(void** save, void* top, void (*entry)(void*), void* argument);

/// Saves the current context in *save and calls entry(argument) on the same stack. Returns 0 when it has returned;
/// otherwise the value passed by whoever resumed *save, in which case what entry had on this stack is lost.
std::intptr_t weft_context_call_saved(void** save, void (*entry)(void*), void* argument);

/// Calls entry(argument) on the stack that ends at `top`, and saves nothing (dissertation, Fig. 3.13): once the
/// caller's frame is gone, the way back must have been changed by divert_return(). Afterwards the control words are
/// `known` again.
void weft_context_start_ss(void* top, void (*entry)(void*), void* argument, weft_fp_control known);

/// weft_context_call_saved() for a caller that knows the control words.
std::intptr_t weft_context_call_saved_with(void** save, void (*entry)(void*), void* argument, weft_fp_control known);

/// Calls entry(argument) on the stack that ends at `top`, as one flow of control with the caller:
/// unwinding goes through, and the caller must not run before the call has returned.
void weft_context_call_on(void* top, void (*entry)(void*), void* argument);

/// Where a diverted return arrives; not to be called.
void weft_context_diverted();

/// Leaves for good the stack of the unit that runs, for whomever weft_unit_ends() names.
[[noreturn]] void weft_unit_finish();

/// Who goes on after a unit. `to`: its context, or the top of its stack if it has not begun, its control words at
/// top-16. `who`: below weft_to_unit: a scheduler, which gets this value; weft_to_unit: a unit that has left, for which
/// weft_unit_passed_by_end() is called; above: the unit to begin.
struct WeftSuccessor {
  void* to;
  std::uintptr_t who;
};
inline constexpr std::uintptr_t weft_to_unit = 16;

/// Provided by the core, on the unit's own stack: it is done. `returned`: and what was called there when it began has
/// just returned; it has not been started by a scheduler. `diverted`: that has returned by way of divert_return().
WeftSuccessor weft_unit_ends();
WeftSuccessor weft_unit_returned();
WeftSuccessor weft_diverted_unit_returned();
}

namespace weft::arch {

/// Bytes below `top` in which start_roc and start_ss keep the return address of the function it called.
inline constexpr std::intptr_t return_slot_offset = -24;

/// Makes the function that was called by start_roc or start_ss on the stack ending at `top` return into
/// weft_diverted_unit_returned() instead of into its (stale) caller. Once is enough; again does no harm.
inline void divert_return(void* top) {
  auto slot = reinterpret_cast<void**>(static_cast<char*>(top) + return_slot_offset);
  *slot = reinterpret_cast<void*>(&weft_context_diverted);
}

}  // namespace weft::arch
