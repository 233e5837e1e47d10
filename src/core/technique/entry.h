// The two ends of a unit's life on its stack. Only for the technique files.
#pragma once

#include "arch/outermost.h"
#include "core/create.h"
#include "core/identities.h"
#include "core/sanitizer.h"
#include "core/technique/start.h"

namespace weft::core {

/// Whether a unit that begins with this word (load_start) was created by this worker, and has not begun, whatever its
/// technique and the size of its stack, and has no flags but those `allowed`.
inline bool begins_plainly(const Worker& worker, std::uint64_t word, unsigned allowed) {
  const UnitStart any{UnitState::created, Technique{0xff}, 0xff, false, static_cast<std::uint16_t>(allowed), 0};
  UnitStart plain;
  plain.flags = UnitFlag::free_standing;
  plain.birth = static_cast<std::uint16_t>(worker.index);
  return (word & ~std::bit_cast<std::uint64_t>(any)) == std::bit_cast<std::uint64_t>(plain);
}

/// On the stack that the caller runs on.
inline void begin(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::running, std::memory_order_relaxed);
  worker.current = &unit;
  pass_scheduling_point(worker);
}

inline void begin(Worker& worker, Unit& unit, Stack* stack, void* top) {
  unit.stack = stack;
  stack->frames = top;
  begin(worker, unit);
}

/// The unit's function has returned; what is still due on its stack.
inline void end_call(Unit& unit) {
  if (has_flag(unit, UnitFlag::detailed) && details(unit).face != nullptr) [[unlikely]]
    end_extras(unit);
}

/// A call as a unit is called.
inline void call_unit(Unit& unit) {
  arch::call_as_outermost(unit.entry, unit.argument);
  end_call(unit);
}

/// The end of a unit, told to whom it concerns; off its stack. From then on it may be gone.
inline void tell_end(Worker& worker, Unit& unit) {
  if (has_flag(unit, UnitFlag::free_standing))
    end_free_standing(worker, unit);
  else if (unit.finished != nullptr)
    unit.finished(&unit);
  else
    unit.state.store(UnitState::done, std::memory_order_release);
}

/// The unit that runs is about to call another one on that one's stack: who finds it meanwhile continues it. Whether it
/// had departed before.
[[gnu::always_inline]] inline bool leave_behind(Worker& worker, Unit& unit, UnitState state) {
  const bool departed_before = unit.departed;
  if (worker.undeviated.stack == unit.stack) worker.undeviated.stack = nullptr;  // it may go on elsewhere
  unit.departed = true;
  unit.place = static_cast<std::uint16_t>(worker.index);
  unit.state.store(state, std::memory_order_relaxed);
  return departed_before;
}

inline Stack* bind_stack(Worker& worker, Unit& unit) {
  return unit.stack != nullptr ? unit.stack : take_stack(worker, unit.stack_class);
}

/// Of most units: nothing is known of it that its end has to undo.
inline bool ends_plainly(const Unit& unit) {
  constexpr unsigned not_plain = UnitFlag::wants_identity | UnitFlag::own_memory | UnitFlag::detailed;
  return !unit.departed && (unit.flags.load(std::memory_order_relaxed) & (not_plain | UnitFlag::free_standing)) ==
                               UnitFlag::free_standing;
}

/// A unit has run to its end without leaving the worker.
inline void end_undeviated_keeping_stack(Worker& worker, Unit& unit) {
  worker.current = nullptr;
  if (ends_plainly(unit)) [[likely]] {
    unit.stack = nullptr;
    end_free_standing(worker, unit);
    return;
  }
  unit.stack = nullptr;
  drop_identity(worker, unit);
  tell_end(worker, unit);
}

/// `caller`: on whose stack this is, and who goes on. (Bug: nobody was said to be there, so that a KLT, started for
/// whoever had waited for the unit, was started on what a stack of 4 KiB had left.)
inline void end_undeviated(Worker& worker, Unit& unit, Unit* caller = nullptr) {
  worker.current = caller;
  if (unit.stack != nullptr && !binds_early(unit)) {
    worker.stacks.give(unit.stack);
    unit.stack = nullptr;
  }
  if (ends_plainly(unit)) [[likely]] {
    end_free_standing(worker, unit);
    return;
  }
  drop_identity(worker, unit);
  tell_end(worker, unit);
}

/// First thing on the unit's stack: where the frame under it lies.
inline void note_arrival() {
#if defined(WEFT_ASAN)
  const void* low = nullptr;
  std::size_t size = 0;
  sanitizer::arrive(nullptr, &low, &size);
  Worker& worker = *this_worker();
  worker.sanitizer.stack = const_cast<void*>(low);
  worker.sanitizer.stack_size = size;
#endif
}

/// What a resumed context gets in sanitizer builds if a scheduler frame has resumed it; 0: another unit, or its child.
inline constexpr std::intptr_t from_scheduler = 1;

/// In sanitizer builds: the unit is on its stack again.
inline void note_return(void* fake, [[maybe_unused]] bool scheduler_resumed) {
#if defined(WEFT_ASAN)
  const void* low = nullptr;
  std::size_t size = 0;
  sanitizer::arrive(fake, &low, &size);
  if (!scheduler_resumed) return;
  Worker& worker = *this_worker();
  worker.sanitizer.stack = const_cast<void*>(low);
  worker.sanitizer.stack_size = size;
#else
  sanitizer::arrive(fake, nullptr, nullptr);
#endif
}

// What the unit's stack ends with when it returns by itself.
[[gnu::noinline]] inline void note_departure() {
#if defined(WEFT_ASAN) || defined(WEFT_TSAN)
  Worker& worker = *this_worker();
  sanitizer::leave(nullptr, worker.sanitizer.fiber, worker.sanitizer.stack, worker.sanitizer.stack_size);
#endif
}

/// What a unit's own stack begins with where it is called and may return.
inline void roc_entry(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  note_arrival();
  call_unit(*unit);
  if constexpr (sanitizer::active) {
    // A diverted unit announces its departure in weft_unit_ends().
    if (!unit->departed) note_departure();
  }
}

inline void full_entry(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  note_arrival();
  call_unit(*unit);
}

}  // namespace weft::core
