// RoC-L: return on completion, stack bound at invocation (dissertation 3.4.1, 3.4.3, Figs. 3.11, 3.15).
//
// Constraint: none. Cost without deviation: the scheduler's registers are saved once, the unit is
// called, and its own epilogue restores them. The first deviation redirects the return address,
// since the registers it would restore are stale once the scheduler has gone on.
//
// Those that follow run in a row (in_a_row.h), for which the registers are saved once.
#include "arch/context.h"
#include "core/technique/in_a_row.h"

namespace weft::core {

namespace {

[[gnu::noinline]] Stack* warm_up(Worker& worker, std::uint8_t stack_class) {
  if (worker.warm != nullptr) worker.stacks.give(worker.warm);
  worker.warm = take_stack(worker, stack_class);
  worker.warm_class = stack_class;
  worker.warm->frames = worker.warm->top();
  return worker.warm;
}

// The stack that the last unit has left, if it is of the size.
inline Stack* warm_stack(Worker& worker, std::uint8_t stack_class) {
  Stack* stack = worker.warm;
  if (stack != nullptr && worker.warm_class == stack_class) [[likely]]
    return stack;
  return warm_up(worker, stack_class);
}

// A unit that has spawned children, and could have been stolen then, has taken the stack away.
inline void keep_warm(Worker& worker, Stack* stack) {
  if (worker.warm == stack) [[likely]]
    return;
  if (worker.warm != nullptr) worker.stacks.give(worker.warm);
  worker.warm = stack;
}

// A unit that has not deviated ends here, still on the stack, which is the worker's.
void entry(void* argument) {
  auto unit = static_cast<Unit*>(argument);
  note_arrival();
  call_unit(*unit);
  if (unit->departed) return;  // diverted: the end comes off the stack (weft_unit_finish)
  Worker& worker = *this_worker();
  keep_warm(worker, unit->stack);
  end_undeviated_keeping_stack(worker, *unit);
  note_departure();
}

// ---------------------------------------------------------------- in a row

void extras_entry(void* unit) { end_call(*static_cast<Unit*>(unit)); }

[[gnu::noinline]] void end_changed(Worker& worker, Unit& unit) {
  if constexpr (!sanitizer::active)  // else roc_entry() has done that
    weft_context_start_ss_with(unit.stack->top(), &extras_entry, &unit, worker.fp_control);
  keep_warm(worker, unit.stack);
  end_undeviated_keeping_stack(worker, unit);
}

[[gnu::always_inline]] inline void run_in_row(Worker& worker, Unit& unit, std::uint8_t stack_class) {
  Stack* stack = warm_stack(worker, stack_class);
  unit.stack = stack;
  begin(worker, unit);
  if constexpr (sanitizer::active) {
    void* fake = nullptr;
    sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
    weft_context_start_ss_with(stack->top(), &roc_entry, &unit, worker.fp_control);
    sanitizer::arrive(fake, nullptr, nullptr);
  } else {
    weft_context_start_ss_with(stack->top(), unit.entry, unit.argument, worker.fp_control);
  }
  if (!has_stayed_plain(unit)) [[unlikely]] {
    end_changed(worker, unit);
    return;
  }
  keep_warm(worker, stack);
  unit.stack = nullptr;
  end_in_row(worker, unit);
}

inline bool suits(Worker& worker, Unit& unit, UnitStart& start) {
  if (start.technique == Technique::roc_l) [[likely]]
    return true;
  if (start.technique == Technique::automatic) {
    settle_technique(worker, unit);
    start.technique = unit.technique;
  }
  return start.technique == Technique::roc_l || start.technique == Technique::stackless;
}

template <class Source>
struct Rest {
  Row<Source> row;
  UnitStart start{};
  Unit* first = nullptr;

  [[gnu::always_inline]] static bool next(const Row<Source>& row, Unit*& unit, UnitStart& start) {
    return row.next(unit, start,
                    [&row](Unit& found, UnitStart& of_unit) { return suits(row.worker(), found, of_unit); });
  }

  // Its frame is lost when a unit deviates: AddressSanitizer must not have marked anything in it.
  [[gnu::no_sanitize_address]] static void run(void* argument) {
    const auto rest = static_cast<const Rest*>(argument);
    const Row<Source> row = rest->row;
    UnitStart start = rest->start;
    Unit* unit = rest->first;
    do {
      if (start.technique == Technique::roc_l) [[likely]]
        run_in_row(row.worker(), *unit, start.stack_class);
      else
        run_stackless_in_row(row.worker(), *unit);
    } while (next(row, unit, start));
    row.worker().current = nullptr;
  }
};

template <class Source>
Event run_row(Worker& worker, Source source) {
  Rest<Source> rest{Row<Source>(worker, source)};
  if (!Rest<Source>::next(rest.row, rest.first, rest.start)) return Event::returned;
  const auto event = static_cast<Event>(
      weft_context_call_saved_with(&worker.scheduler_context, &Rest<Source>::run, &rest, worker.fp_control));
  if (event != Event::returned) sanitizer::arrive(nullptr, nullptr, nullptr);  // the loop was left in the midst
  return event;
}

}  // namespace

// The stack stays where the next unit finds it; one that deviates takes it away (note_first_deviation).
Event run_roc_l(Worker& worker, Unit& unit) {
  if (unit.stack != nullptr) [[unlikely]]
    return run_roc(worker, unit);
  Stack* stack = warm_stack(worker, unit.stack_class);
  begin(worker, unit, stack, stack->top());
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  auto event = static_cast<Event>(
      weft_context_start_roc(&worker.scheduler_context, stack->top(), &entry, &unit, worker.fp_control));
  sanitizer::arrive(fake, nullptr, nullptr);
  if (event == Event::returned)
    with_row_source(worker, [&worker, &event](auto source) { event = run_row(worker, source); });
  return event;
}

}  // namespace weft::core
