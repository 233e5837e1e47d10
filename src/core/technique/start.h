// Starting a unit: the part that all techniques share. Each technique is a file of its own beside
// this one; Unit::technique chooses.
//
// Where a stack is bound at start (the "-L", "-E" and SC), the unit gives it back as soon as it ends;
// where it is bound at creation, it keeps it until it is freed.
#pragma once

#include <cstdint>

#include "core/sanitizer.h"
#include "core/worker.h"

namespace weft::core {

/// Why a scheduler frame got control back from what it ran.
enum class Event : std::intptr_t {
  returned = 0,  // ran to its end by return; its stack is still in the caller's hands
  suspended = 1,
  yielded = 2,
  finished = 3,  // ran to its end, having deviated
};

/// A scheduler frame: restores, at its end, the frame around it. Every loop that starts or resumes
/// units has one for as long as it runs.
class SchedulerFrame {
 public:
  explicit SchedulerFrame(Worker& worker)
      : worker_(worker),
        unit_(worker.current),
        context_(worker.scheduler_context),
        stack_(worker.frame_stack),
        stack_size_(worker.frame_stack_size),
        fiber_(worker.frame_fiber) {
    worker.frame_fiber = sanitizer::current_fiber();
  }
  ~SchedulerFrame() {
    worker_.current = unit_;
    worker_.scheduler_context = context_;
    worker_.frame_stack = stack_;
    worker_.frame_stack_size = stack_size_;
    worker_.frame_fiber = fiber_;
  }
  SchedulerFrame(const SchedulerFrame&) = delete;
  SchedulerFrame& operator=(const SchedulerFrame&) = delete;

 private:
  Worker& worker_;
  Unit* unit_;
  void* context_;
  void* stack_;
  std::size_t stack_size_;
  void* fiber_;
};

/// Starts a unit that a scheduler has taken and that has not run yet. `returned`: it ran to its end, as
/// perhaps others after it, and all that is done about it. Otherwise Worker::current is the unit that
/// the event is about, and settle() has to follow.
Event start_unit(Worker& worker, Unit& unit);

/// Replaces `automatic` by the technique that is chosen now.
void settle_technique(Worker& worker, Unit& unit);

/// Whether the stack is bound at creation.
inline bool binds_early(const Unit& unit) {
  switch (unit.technique) {
    case Technique::full:
    case Technique::roc:
    case Technique::ss:
    case Technique::c_full:
    case Technique::c_roc:
      return true;
    default:
      return has_flag(unit, UnitFlag::own_memory);
  }
}

/// The size of the stack that the unit wants.
std::size_t wanted_stack(const Unit& unit);

/// The end of a unit, told to whom it concerns; off its stack. From then on it may be gone.
void tell_end(Worker& worker, Unit& unit);

/// RoC-L, the bare start: binds `stack` (taken at invocation) and calls the unit on it below `top`; the
/// way back is a return unless the unit deviates.
Event start_roc_l(Worker& worker, Unit& unit, Stack* stack, void* top);

/// Full-L, the bare start: the unit switches back to the scheduler even if it never deviated.
Event start_full(Worker& worker, Unit& unit, Stack* stack, void* top);

/// A call as a unit is called: for those that run on the stack of the caller.
void call_unit(Unit& unit);

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

/// The unit leaves the frames that it was called from for good: changes its way back.
void note_first_deviation(Worker& worker, Unit& unit);

/// For SS, SS-L and SC, which run one unit after the other as calls: the next unit to be started with the
/// same technique, if the loop may go on and that is what comes next; else nullptr, and what comes next
/// is left to the scheduler.
Unit* next_in_batch(Worker& worker, Technique technique);

/// Resumes a unit whose context was saved.
Event continue_unit(Worker& worker, Unit& unit);

/// What has to follow any event but `returned`: on the scheduler's side, the unit off its stack.
void settle(Worker& worker, Unit& unit, Event event);

/// Leaves the running unit for the scheduler frame under it.
void leave_unit(Worker& worker, Unit& unit, Event event);

}  // namespace weft::core
