// Events of the detach clause (OpenMP 5.2, 12.5.2): a detachable task is complete when its body has ended and its event
// has been fulfilled, in whatever order.
//
// `left` counts the two. Who takes it to 0 completes the task and frees the event. Whoever fulfils may be any thread of
// the process, also one that has never had to do with OpenMP, and the task's team may be one that it does not belong
// to: it holds the team open meanwhile, which it may since the task is pending. The member of a task of GCC's code that
// is not deferred does not count its end; it waits until only that is left, and completes the task itself. So does that
// of LLVM's, where the descriptor of the task around it lies in a frame and cannot move (GCC's code, which has called
// LLVM's in a final task); else it goes on at the end of the body, as the specification has it.
//
// A task that is discarded by cancellation is complete at once and forgets its event, which then lives until it is
// fulfilled: `task` is taken away before the end is counted. Its team may be gone then, with the thread of the program
// that it was of; so `decided` says which came first. If somebody fulfils already, the task is not complete without
// him.
#pragma once

#include <atomic>

#include "faces/openmp/task.h"

namespace weft::openmp {

struct Event {
  TaskCounter left{2};
  Team* team = nullptr;
  std::atomic<Task*> task{nullptr};  // nullptr: not created yet, or discarded
  bool creator_waits = false;        // for it, behind a task that is not deferred: GCC's code does
  std::atomic<bool> decided{false};  // whether the event is fulfilled or forgotten; by whoever is first to set this
  /// The task's, where a tool is told of that, which outlives the task: it may be discarded while a tool is told that
  /// the event is fulfilled.
  std::atomic<ompt::Record*> record{nullptr};
};

/// An event for the next task that the member creates (TaskRequest::event). Its address is its handle.
Event* make_event(Member& member);

/// omp_fulfill_event; once for each event.
void fulfil_event(Event* event);

/// The body of the task has ended. True: the task is complete, and the event is gone; else the task belongs to who
/// fulfils.
bool end_body_of_detached(Member& member, Task& task);
/// The same for an undeferred task: waits.
void wait_for_event(Member& member, Task& task);
/// The task's body shall never begin. False: somebody is about to fulfil the event, and the task ends as if its body
/// had ended; else forget_event() is next.
inline bool may_forget(Event& event) { return !event.decided.exchange(true, std::memory_order_acq_rel); }
/// The task, whose body never began, is complete; or it has not been created.
void forget_event(Member& member, Event& event);

}  // namespace weft::openmp
