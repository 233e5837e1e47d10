// Units in a row: when a stackless unit or one of RoC-L has run to its end, and the worker's loop would go on with
// another such one, that is run right away, without a way through the scheduler for each. Nothing is written but what
// somebody may look at.
//
// What is in the row: units that are plain in all that their UnitStart says (one compare: created here, not cancelled,
// free-standing, of no kind that a scheduler has to look at), from a private list under a scheduler that has only that,
// or from the worker's own deque while nobody else comes to it (core/privacy.h).
//
// What the scheduler would ask between two units is asked here too: whether its wait is over, whether the worker has
// another scheduler now; and from the deque not more than find.h, points_in_a_row, so that others have their turn. A
// unit is looked at before it is taken: what is not in the row stays where it is, for the scheduler.
//
// A unit of RoC-L is called on the worker's warm stack, as SS-L does it: the registers of the loop are saved by what it
// calls, those of the scheduler once for the whole row. If the unit deviates, the loop's frame is lost, and the
// scheduler goes on where the row began (weft_context_call_saved_with), with the unit's event.
//
// Rejected: to take several units out of the pool at once, and to tell several ends together. It saves two stores per
// unit. But then a unit that computes keeps those behind it from thieves, and their joiners from going on.
#pragma once

#include "core/find.h"
#include "core/pool/pool.h"
#include "core/technique/choice.h"
#include "core/technique/entry.h"

namespace weft::core {

/// Where the units of a row come from. look() gives the next one, or false; it is out of there when it is accepted. One
/// that is refused is the scheduler's next.
template <Order order>
struct RowFromList {
  Ring<order>* ring;
  const Scheduler* scheduler;
  bool goes_on(const Worker& worker) const { return worker.scheduler() == scheduler; }
  bool look(Worker&, Unit*& unit) const { return ring->peek(unit); }
  void accept() const { ring->drop(); }
  static void refuse(Worker&, Unit&) {}
};

/// Here it is taken out at once: a thief could else have it while it is looked at.
struct RowFromDeque {
  static bool goes_on(const Worker& worker) {
    return worker.scheduler() == nullptr && worker.privacy.is_private() &&
           worker.scheduling_points.load(std::memory_order_relaxed) - worker.turn_points < points_in_a_row;
  }
  static bool look(Worker& worker, Unit*& unit) { return (unit = take_newest(worker)) != nullptr; }
  static void accept() {}
  static void refuse(Worker& worker, Unit& unit) { worker.handed_on = &unit; }
};

/// What is the same for all units of a row; `technique`: what they are, or, if that is automatic, any.
template <class Source, Technique technique = Technique::automatic>
class Row {
 public:
  Row(Worker& worker, Source source)
      : worker_(worker),
        source_(source),
        awaited_(worker.until_done != nullptr ? worker.until_done->state : worker.root_unit.state),
        wait_is_over_(worker.until_done != nullptr ? UnitState::done : UnitState::ready) {
    UnitStart plain;
    plain.technique = technique;
    plain.flags = UnitFlag::free_standing;
    plain.birth = static_cast<std::uint16_t>(worker.index);
    plain_ = std::bit_cast<std::uint64_t>(plain);
  }

  /// The next one, `start` its UnitStart. False: the row ends. `suits`: bool(Unit&, UnitStart&), which may change the
  /// technique.
  template <class Suits>
  [[gnu::always_inline]] bool next(Unit*& unit, UnitStart& start, Suits suits) const {
    if (is_over()) [[unlikely]]
      return false;
    if (!source_.look(worker_, unit)) return false;
    const std::uint64_t word = load_start(*unit);
    start = std::bit_cast<UnitStart>(word);
    if ((word & ~std::bit_cast<std::uint64_t>(free_choice)) == plain_ && suits(*unit, start)) [[likely]] {
      source_.accept();
      return true;
    }
    source_.refuse(worker_, *unit);
    return false;
  }

  Worker& worker() const { return worker_; }

 private:
  // What units of a row may differ in.
  static constexpr UnitStart free_choice{UnitState::created,
                                         technique == Technique::automatic ? Technique{0xff} : Technique{},
                                         0xff,
                                         false,
                                         static_cast<std::uint16_t>(UnitFlag::chosen),
                                         0};

  bool is_over() const {
    return awaited_.load(std::memory_order_acquire) == wait_is_over_ || !source_.goes_on(worker_);
  }

  Worker& worker_;
  const Source source_;
  // Of what the frame waits for, if it does; a worker of weft's own has a root that is never ready. (That a unit is
  // done is so a few instructions before is_done() says it: then the row ends early.)
  const std::atomic<UnitState>& awaited_;
  const UnitState wait_is_over_;
  std::uint64_t plain_;
};

/// Whether a unit of a row is still what it was at its start.
inline bool has_stayed_plain(const Unit& unit) {
  constexpr unsigned others = ~(unsigned{UnitFlag::free_standing} | unsigned{UnitFlag::chosen});
  return (unit.flags.load(std::memory_order_relaxed) & others) == 0;
}

/// end_free_standing() of one that was created on this worker.
[[gnu::always_inline]] inline void end_in_row(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::done, std::memory_order_relaxed);
  if (worker.privacy.is_private_after() && unit.waiters.load(std::memory_order_relaxed) == nullptr) [[likely]]
    unit.waiters.store(&done_mark, std::memory_order_release);
  else
    tell_waiters(worker, unit);
}

/// Calls `loop` with the source that the worker has, if it has one.
template <class Loop>
[[gnu::always_inline]] inline void with_row_source(const Worker& worker, Loop loop) {
  if (!worker.loops || worker.handed_on != nullptr || worker.spare) return;
  if (const Scheduler* own = worker.scheduler(); own != nullptr) {
    Pool* list = own->private_list();
    if (list == nullptr) return;
    if (auto ring = list->fifo_ring(); ring != nullptr)
      loop(RowFromList<Order::fifo>{ring, own});
    else
      loop(RowFromList<Order::lifo>{list->lifo_ring(), own});
    return;
  }
  // Placed units have their turn too; and a root may have to look what it runs.
  if (worker.attended.load(std::memory_order_relaxed) == nullptr &&
      worker.lends_within.load(std::memory_order_relaxed) == nullptr)
    loop(RowFromDeque{});
}

/// The end of a stackless unit of which more has become known while it ran.
void end_changed_stackless(Worker& worker, Unit& unit);

/// A stackless unit of a row, from its start to its end.
[[gnu::always_inline]] inline void run_stackless_in_row(Worker& worker, Unit& unit) {
  begin(worker, unit);
  unit.entry(unit.argument);
  if (has_stayed_plain(unit)) [[likely]]
    end_in_row(worker, unit);
  else
    end_changed_stackless(worker, unit);
}

}  // namespace weft::core
