// Starting a unit: the part that all techniques share. Each technique is a file of its own beside
// this one; Unit::technique chooses.
//
// Where a stack is bound at start (the "-L", "-E" and SC), the unit gives it back as soon as it ends;
// where it is bound at creation, it keeps it until it is freed.
#pragma once

#include <bit>
#include <cstdint>

#include "arch/context.h"
#include "core/sanitizer.h"
#include "core/runtime.h"
#include "core/worker.h"

namespace weft::core {

/// Why a scheduler frame got control back from what it ran.
enum class Event : std::intptr_t {
  returned = 0,  // ran to its end by return; its stack is still in the caller's hands
  suspended = 1,
  yielded = 2,
  finished = 3,  // ran to its end, having deviated
  parked = 4,    // suspended, and holds a lock that keeps its resumers away (Unsettled::parked_under)
};

/// A scheduler frame: restores, at its end, the frame around it. Every loop that starts or resumes
/// units has one for as long as it runs. `loops`: it runs whatever is ready, so units may pass the worker on to each
/// other; else it wants to have it back. `modes`: the floating-point control words with which its units begin, whatever
/// the KLT has, which may be a thread of the program's, or have been started by one; but for the exceptions that have
/// been.
class SchedulerFrame {
 public:
  explicit SchedulerFrame(Worker& worker, bool loops = false) : SchedulerFrame(worker, loops, runtime.fp_control) {}
  SchedulerFrame(Worker& worker, bool loops, weft_fp_control modes)
      : SchedulerFrame(worker, loops, modes, arch::fp_control()) {}
  /// `own`: those of the KLT, which are dear to ask for.
  SchedulerFrame(Worker& worker, bool loops, weft_fp_control modes, weft_fp_control own)
      : worker_(worker),
        unit_(worker.current),
        context_(worker.scheduler_context),
        fp_control_(worker.fp_control),
        own_fp_control_(own),
        warm_(worker.undeviated.stack),
        warm_class_(worker.undeviated.stack_class),
        frame_returns_(worker.claims.frame_returns) {
    if constexpr (sanitizer::active) {
      stack_ = worker.sanitizer.stack;
      stack_size_ = worker.sanitizer.stack_size;
      fiber_ = worker.sanitizer.fiber;
      worker.sanitizer.fiber = sanitizer::current_fiber();
    }
    worker.claims.frame_returns = !loops;
    worker.fp_control = own_fp_control_;
    if (!arch::have_same_modes(own_fp_control_, modes)) [[unlikely]]
      begin_modes(modes);
    worker.undeviated.stack = nullptr;  // perhaps the stack that this frame lies on
  }
  ~SchedulerFrame() {
    if (has_other_modes_) [[unlikely]]
      arch::load_fp_control(own_fp_control_);
    worker_.current = unit_;
    worker_.scheduler_context = context_;
    worker_.fp_control = fp_control_;
    worker_.claims.frame_returns = frame_returns_;
    if (worker_.undeviated.stack != nullptr) worker_.stacks.give(worker_.undeviated.stack);
    worker_.undeviated.stack = warm_;
    worker_.undeviated.stack_class = warm_class_;
    if constexpr (sanitizer::active) {
      worker_.sanitizer.stack = stack_;
      worker_.sanitizer.stack_size = stack_size_;
      worker_.sanitizer.fiber = fiber_;
    }
  }
  SchedulerFrame(const SchedulerFrame&) = delete;
  SchedulerFrame& operator=(const SchedulerFrame&) = delete;

 private:
  [[gnu::noinline]] void begin_modes(weft_fp_control modes) {
    has_other_modes_ = true;
    worker_.fp_control = modes;
    arch::load_fp_control(modes);
  }

  Worker& worker_;
  Unit* unit_;
  void* context_;
  weft_fp_control fp_control_;
  const weft_fp_control own_fp_control_;
  void* stack_ = nullptr;
  std::size_t stack_size_ = 0;
  void* fiber_ = nullptr;
  Stack* warm_;
  std::uint8_t warm_class_;
  bool frame_returns_;
  bool has_other_modes_ = false;
};

/// Starts a unit that a scheduler has taken and that has not run yet. `returned`: it ran to its end, as
/// perhaps others after it, and all that is done about it. Otherwise Worker::current is the unit that
/// the event is about, and settle() has to follow.
using Start = Event (*)(Worker& worker, Unit& unit);
extern const Start start_of[];  // by technique
inline Event start_unit(Worker& worker, Unit& unit) {
  return start_of[static_cast<std::size_t>(unit.technique.get())](worker, unit);
}

/// In a loop, after a unit has ended by Event::returned: runs those that can follow it at once. As start_unit().
Event run_in_a_row(Worker& worker);

/// Replaces `automatic` by the technique that is chosen now.
inline void settle_technique(Worker& worker, Unit& unit) {
  if (unit.technique == Technique::automatic) unit.technique = choose(worker.choices, unit.entry);
}

/// Whether the unit runs at its creation, in place of its creator.
inline bool is_child_first(Technique technique) { return technique >= Technique::c_full; }

/// Whether the stack is bound at creation.
inline bool binds_at_creation(Technique technique) {
  constexpr auto bit = [](Technique one) { return 1U << static_cast<unsigned>(one); };
  constexpr unsigned early =
      bit(Technique::full) | bit(Technique::roc) | bit(Technique::ss) | bit(Technique::c_full) | bit(Technique::c_roc);
  return (early >> static_cast<unsigned>(technique) & 1U) != 0;
}
inline bool binds_early(const Unit& unit) {
  return binds_at_creation(unit.technique) || has_flag(unit, UnitFlag::own_memory);
}

/// Unit::stack_class for a wish in bytes; 0: the default.
inline std::uint8_t stack_class_of(std::size_t bytes) {
  return static_cast<std::uint8_t>(bytes != 0 ? StackCache::class_of(bytes) : 0);
}

/// A stack of the size that Unit::stack_class wants, where that is a matter of a few instructions; else nullptr.
inline Stack* take_stack_at_hand(Worker& worker, std::uint8_t stack_class) {
  return worker.stacks.take_at_hand(stack_class_or_default(stack_class));
}

/// The same in any case; nullptr without memory.
inline Stack* take_stack_if_there_is(Worker& worker, std::uint8_t stack_class) {
  return worker.stacks.take_of_class(stack_class_or_default(stack_class));
}
[[noreturn]] void end_without_stack(std::uint8_t stack_class);
/// The same; ends the process with a line without memory.
inline Stack* take_stack(Worker& worker, std::uint8_t stack_class) {
  Stack* stack = take_stack_if_there_is(worker, stack_class);
  if (stack == nullptr) [[unlikely]]
    end_without_stack(stack_class);
  return stack;
}

/// RoC, the bare start: binds `stack` and calls the unit on it below `top`; the way back is a return unless the unit
/// deviates.
Event start_roc(Worker& worker, Unit& unit, Stack* stack, void* top);

/// Full-L, the bare start: the unit switches back to the scheduler even if it never deviated.
Event start_full(Worker& worker, Unit& unit, Stack* stack, void* top);

// One for each technique.
Event run_stackless(Worker& worker, Unit& unit);
Event run_full(Worker& worker, Unit& unit);
Event run_full_l(Worker& worker, Unit& unit);
Event run_roc(Worker& worker, Unit& unit);
Event run_roc_l(Worker& worker, Unit& unit);
Event run_ss(Worker& worker, Unit& unit);
Event run_ss_l(Worker& worker, Unit& unit);
Event run_sc(Worker& worker, Unit& unit);
void spawn_c_full(Worker& worker, Unit& child);
void spawn_c_full_e(Worker& worker, Unit& child);
void spawn_c_roc(Worker& worker, Unit& child);
void spawn_c_roc_e(Worker& worker, Unit& child);

/// Runs a unit of a child-first technique now, in place of the caller, which waits in the worker's deque.
void run_child_first(Worker& worker, Unit& child);

/// For whoever is about to wait for the end of the unit: calls it, where it is what the worker would go on with anyway.
/// True: it has ended, and the caller may be on another worker. False: that cannot be.
bool run_by_joiner(Worker& worker, Unit& awaited);

/// The unit leaves the frames that it was called from for good: changes its way back.
void note_first_deviation(Worker& worker, Unit& unit);

/// The unit runs again, on the calling worker.
[[gnu::always_inline]] inline void note_running(Worker& worker, Unit& unit) {
  if (unit.place != worker.index) [[unlikely]] {
    unit.place = static_cast<std::uint16_t>(worker.index);
    if (unit.moves != UINT16_MAX) ++unit.moves;
  }
  unit.state.store(UnitState::running, std::memory_order_relaxed);
  worker.current = &unit;
  pass_scheduling_point(worker);
  count_one(worker.units_resumed);
}

/// The unit leaves its stack, for the first time or again.
void note_deviation(Worker& worker, Unit& unit);

/// Resumes a unit whose context was saved.
Event continue_unit(Worker& worker, Unit& unit);

/// What has to follow any event but `returned`: on the scheduler's side, the unit off its stack.
void settle(Worker& worker, Unit& unit, Event event);
/// settle() of Event::finished.
void settle_finished(Worker& worker, Unit& unit);

/// No unit runs on the worker. Before the memory of the one that did may be another's: a handler of the program's that
/// asks who it is there gets its answer by Worker::current, at any instruction.
inline void nothing_runs(Worker& worker) {
  worker.current = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// settle() for the unit that the worker has just run.
inline void settle_current(Worker& worker, Event event) {
  Unit& unit = *worker.current;
  nothing_runs(worker);
  settle(worker, unit, event);
}

/// Leaves the running unit, for another or for the scheduler frame under it. Returns 0 when it goes on: so who returns
/// an int can make this its last call, which spares the processor's return predictor an error or two for each unit.
int leave_unit(Worker& worker, Unit& unit, Event event);
/// leave_unit() of Event::yielded, for a unit that runs on any identity.
int yield_unit(Worker& worker, Unit& unit);
/// The same to a ready unit, where that is the one that comes first here anyway, and returns 0; else what
/// `otherwise(next)` returns.
int yield_to_first(Worker& worker, Unit& unit, Unit& next, int (*otherwise)(Unit& next));
/// leave_unit() for this one, of which may_pass_to() says that it can be.
int leave_unit_for(Worker& worker, Unit& unit, Event event, Unit& next);
/// The same, for the scheduler in any case, and without taking anything out of a pool: from signal handlers.
int leave_unit_to_scheduler(Worker& worker, Unit& unit, Event event);

}  // namespace weft::core
