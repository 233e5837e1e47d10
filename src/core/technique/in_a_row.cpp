// Units in a row: when a unit has run to its end without deviating, and what the worker's loop would go on with is a
// stackless one or one of RoC-L, that is run right away, without a way through the scheduler for each. Nothing is
// written but what somebody may look at.
//
// What is in the row: units that are plain in all that their UnitStart says (one compare: created here, not cancelled,
// free-standing, of no kind that a scheduler has to look at), from a private list under a scheduler that has only that,
// or from the worker's own deque while nobody else comes to it (core/privacy.h). Most begin as the one before them did:
// where the two words are equal, the next one is started in the same way, and nothing else about it is looked at.
//
// What the scheduler would ask between two units is asked here too: whether its wait is over, whether the worker has
// another scheduler now; and from the deque not more than find.h, points_in_a_row, from a list not more than 1024, so
// that others have their turn. A unit is looked at before it is taken: what is not in the row stays where it is, for
// the scheduler.
//
// A unit of RoC-L is called on the worker's warm stack, as SS-L does it: the registers of the loop are saved by what it
// calls, those of the scheduler once for the whole row. If the unit deviates, the loop's frame is lost, and the
// scheduler goes on where the row began (weft_context_call_saved_with), with the unit's event.
//
// Rejected: to take several units out of the pool at once, and to tell several ends together. It saves two stores per
// unit. But then a unit that computes keeps those behind it from thieves, and their joiners from going on.
#include "arch/context.h"
#include "arch/outermost.h"
#include "core/find.h"
#include "core/idle.h"
#include "core/pool/pool.h"
#include "core/technique/choice.h"
#include "core/technique/entry.h"
#include "core/technique/warm.h"

namespace weft::core {
namespace {

// Where the units of a row come from. look() gives the next one, or false; it is out of there when it is accepted. One
// that is refused is the scheduler's next.
template <Order order>
struct RowFromList {
  Ring<order>& ring;
  const std::uint64_t began;  // at so many scheduling points
  static RowFromList of(const Worker& worker) {
    return {worker.scheduler()->private_list()->ring<order>(),
            worker.scheduling_points.load(std::memory_order_relaxed)};
  }
  bool goes_on(const Worker& worker) const {
    constexpr std::uint64_t most = 1024;
    return worker.scheduling_points.load(std::memory_order_relaxed) - began < most;
  }
  bool look(Worker&, Unit*& unit) const { return ring.peek(unit); }
  void accept() const { ring.drop(); }
  static void refuse(Worker&, Unit&) {}
};

// Here it is taken out at once: a thief could else have it while it is looked at.
struct RowFromDeque {
  static RowFromDeque of(const Worker&) { return {}; }
  static bool goes_on(const Worker& worker) {
    return worker.privacy.is_private() &&
           worker.scheduling_points.load(std::memory_order_relaxed) - worker.turns.points < points_in_a_row;
  }
  static bool look(Worker& worker, Unit*& unit) { return (unit = take_newest(worker)) != nullptr; }
  static void accept() {}
  static void refuse(Worker& worker, Unit& unit) { worker.handed_on = &unit; }
};

// What is the same for all units of a row.
template <class Source>
class Row {
 public:
  Row(Worker& worker, Source source) : worker_(worker), source_(source) {}

  // The next one, and its UnitStart. False: the row ends. Else accept() or refuse() follows.
  [[gnu::always_inline]] bool look(Unit*& unit, std::uint64_t& word) const {
    if (is_over()) [[unlikely]]
      return false;
    if (!source_.look(worker_, unit)) return false;
    word = load_start(*unit);
    return true;
  }
  void accept() const { source_.accept(); }
  void refuse(Unit& unit) const { source_.refuse(worker_, unit); }

 private:
  // That the unit that is waited for is done is said by its state a few instructions before is_done() says so; then the
  // row ends early. Worker::until_ready may be changed by others at any time (core/active.cpp).
  bool is_over() const {
    if (!worker_.claims.none() || root_is_ready(worker_.until_ready)) return true;
    if (const Unit* awaited = worker_.until_done; awaited != nullptr)
      if (awaited->state.load(std::memory_order_acquire) == UnitState::done) return true;
    return !source_.goes_on(worker_);
  }

  Worker& worker_;
  const Source source_;
};

// Whether a unit of a row is still what it was at its start.
inline bool has_stayed_plain(const Unit& unit) {
  constexpr unsigned others = ~(unsigned{UnitFlag::free_standing} | unsigned{UnitFlag::chosen});
  return (unit.flags.load(std::memory_order_relaxed) & others) == 0;
}

// end_free_standing() of one that was created on this worker.
[[gnu::always_inline]] inline void end_in_row(Worker& worker, Unit& unit) {
  if (!end_quietly(worker, unit)) [[unlikely]]
    tell_waiters(worker, unit);
}

// ---------------------------------------------------------------- stackless

[[gnu::noinline]] void end_changed_stackless(Worker& worker, Unit& unit) {
  end_call(unit);
  end_undeviated(worker, unit);
}

[[gnu::always_inline]] inline void run_stackless_in_row(Worker& worker, Unit& unit) {
  begin(worker, unit);
  arch::call_as_outermost(unit.entry, unit.argument);
  if (has_stayed_plain(unit)) [[likely]]
    end_in_row(worker, unit);
  else
    end_changed_stackless(worker, unit);
}

// A function for each source, so that what is the same for all units of the row stays in registers. What one of them
// does to the modes of floating-point arithmetic ends with the row (docs/design/units.md).
template <class Source>
[[gnu::noinline]] Event run_stackless_row(Worker& worker, Source source, Unit* unit, std::uint64_t same) {
  const Row<Source> row(worker, source);
  std::uint64_t word;
  for (;;) {
    run_stackless_in_row(worker, *unit);
    if (!row.look(unit, word)) break;
    if (word != same) [[unlikely]] {
      row.refuse(*unit);
      break;
    }
    row.accept();
  }
  arch::load_fp_control(worker.fp_control);
  worker.current = nullptr;
  return Event::returned;
}

// ---------------------------------------------------------------- RoC-L, and stackless ones among them

void extras_entry(void* unit) { end_call(*static_cast<Unit*>(unit)); }

[[gnu::noinline]] void end_changed_roc_l(Worker& worker, Unit& unit) {
  if constexpr (!sanitizer::active)  // else roc_entry() has done that
    weft_context_start_ss(unit.stack->top(), &extras_entry, &unit, worker.fp_control);
  keep_warm(worker, unit.stack);
  end_undeviated_keeping_stack(worker, unit);
}

[[gnu::always_inline]] inline void run_roc_l_in_row(Worker& worker, Unit& unit, Stack* stack) {
  unit.stack = stack;
  begin(worker, unit);
  if constexpr (sanitizer::active) {
    void* fake = nullptr;
    sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
    weft_context_start_ss(stack->top(), &roc_entry, &unit, worker.fp_control);
    sanitizer::arrive(fake, nullptr, nullptr);
  } else {
    weft_context_start_ss(stack->top(), unit.entry, unit.argument, worker.fp_control);
  }
  if (!has_stayed_plain(unit)) [[unlikely]] {
    end_changed_roc_l(worker, unit);
    return;
  }
  keep_warm(worker, stack);
  unit.stack = nullptr;
  end_in_row(worker, unit);
}

// How a unit of a row is started.
struct Like {
  static constexpr std::uint64_t none = ~std::uint64_t{0};  // no unit begins with that
  std::uint64_t word = none;       // its UnitStart, the technique settled; none: no row has such units
  std::uint64_t automatic = none;  // of RoC-L: that of one whose technique is yet to be chosen
  Stack* stack = nullptr;          // of RoC-L: Worker::undeviated
  void (*entry)(void*) = nullptr;  // of the last of those, for which RoC-L was chosen
};

[[gnu::noinline]] Like like_roc_l(Worker& worker, UnitStart start) {
  Like like{std::bit_cast<std::uint64_t>(start), Like::none, warm_stack(worker, start.stack_class)};
  start.technique = Technique::automatic;
  like.automatic = std::bit_cast<std::uint64_t>(start);
  return like;
}

[[gnu::noinline]] Like like_this(Worker& worker, Unit& unit, std::uint64_t word) {
  auto start = std::bit_cast<UnitStart>(word);
  if (!begins_plainly(worker, word, UnitFlag::chosen)) return {};
  if (start.technique == Technique::automatic) unit.technique = start.technique = choose(worker.choices, unit.entry);
  if (start.technique == Technique::roc_l) return like_roc_l(worker, start);
  if (start.technique == Technique::stackless) return {word, Like::none, nullptr};
  return {};
}

// Chooses for a unit that is like those of the row, but for its function or for what is known of that by now.
[[gnu::noinline]] bool is_roc_l_anew(Worker& worker, Unit& unit, Like& like) {
  unit.technique = choose(worker.choices, unit.entry);
  if (unit.technique != Technique::roc_l) return false;
  like.entry = unit.entry;
  worker.choices.promise_rest();
  return true;
}

// The next one is one that can be started like that, or in a way that is like that from now on. False: the row ends.
template <class Source>
[[gnu::always_inline]] inline bool next_like(const Row<Source>& row, Worker& worker, Unit*& unit, Like& like) {
  std::uint64_t word;
  if (!row.look(unit, word)) return false;
  // First what most ask for, as it is the default.
  if (word == like.automatic) [[likely]] {
    // Should RoC-L not be chosen any more, because of units on top of this row, that is seen with the next decision.
    if (unit->entry == like.entry && worker.choices.count_promised()) [[likely]] {
      unit->technique = Technique::roc_l;
    } else if (!is_roc_l_anew(worker, *unit, like)) {
      row.refuse(*unit);
      return false;
    }
  } else if (word != like.word) [[unlikely]] {
    like = like_this(worker, *unit, word);
    if (like.word == Like::none) {
      row.refuse(*unit);
      return false;
    }
  }
  row.accept();
  return true;
}

// Its frame is lost when a unit deviates: AddressSanitizer must not have marked anything in it, so this file is built
// without.
template <class Source>
void roc_l_row(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  const Row<Source> row(worker, Source::of(worker));
  Unit* unit = worker.first_of_row;
  Like like = like_roc_l(worker, std::bit_cast<UnitStart>(worker.first_start));
  do {
    if (like.stack != nullptr) [[likely]] {
      run_roc_l_in_row(worker, *unit, like.stack);
    } else {
      run_stackless_in_row(worker, *unit);
      arch::load_fp_control(worker.fp_control);
    }
  } while (next_like(row, worker, unit, like));
  worker.choices.take_back();
  worker.current = nullptr;
}

// The call that saves the registers is the last one, so that a unit that deviates comes back into the scheduler's loop
// itself.
template <class Source>
Event run_row(Worker& worker, Source source) {
  const Row<Source> row(worker, source);
  Unit* unit = nullptr;
  std::uint64_t word;
  if (!row.look(unit, word)) return Event::returned;
  const Like like = like_this(worker, *unit, word);
  if (like.word == Like::none) {
    row.refuse(*unit);
    return Event::returned;
  }
  row.accept();
  if (like.stack == nullptr) return run_stackless_row(worker, source, unit, word);
  // With the word that it was accepted for: others may give it a flag by now (a name, a grant, that it is cancelled).
  worker.first_of_row = unit;
  worker.first_start = like.word;
  const auto event = static_cast<Event>(
      weft_context_call_saved_with(&worker.scheduler_context, &roc_l_row<Source>, &worker, worker.fp_control));
  if (event != Event::returned) sanitizer::arrive(nullptr, nullptr, nullptr);  // the loop was left in the midst
  return event;
}

}  // namespace

Event run_in_a_row(Worker& worker) {
  if (worker.handed_on != nullptr || !worker.claims.none()) [[unlikely]]
    return Event::returned;
  if (const Scheduler* own = worker.scheduler(); own != nullptr) {
    const Pool* list = own->private_list();
    if (list == nullptr) return Event::returned;
    if (list->fifo_ring() != nullptr) return run_row(worker, RowFromList<Order::fifo>::of(worker));
    return run_row(worker, RowFromList<Order::lifo>::of(worker));
  }
  // Placed units have their turn too; and a root may have to look what it runs.
  if (!runs_as_they_come(worker)) return Event::returned;
  return run_row(worker, RowFromDeque());
}

}  // namespace weft::core
