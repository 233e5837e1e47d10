// The four child-first techniques (dissertation 3.5): the creator's continuation waits in the worker's deque, where
// thieves find it, while the child runs at once. They differ in how the child is left when it ends and its creator is
// still there (C-Full: by a switch; C-RoC: by a return), and in when its stack is free (the "-E": at its end).
//
// Nothing is done to the creator until it is stolen, or comes back by way of a scheduler: then, on its first such
// deviation, its own way back is changed as for any unit that deviates (Figs. 3.21, 3.23: "the thief updates").
// The child needs no such change: it looks whether its creator is still the newest in the deque, and waits there for
// this very child (Unit::next, which a deque does not need, says so); only then it goes back to it. A creator that was
// stolen and has suspended meanwhile may lie there too, if the child has resumed it; but who continues a creator
// clears the link, and nobody else links to a unit that runs. (Model: tests/models/child_first.pml.)
//
// A creator with a pool of its own waits there instead, or it would be lost to those who share that pool; so does one
// under a scheduler of the program's own (put_ready). When the child ends, it is that scheduler's business who comes
// next.
//
// A root cannot be continued by others: its child runs on top of it, as under a scheduler.
#pragma once

#include "arch/context.h"
#include "core/create.h"
#include "core/find.h"
#include "core/idle.h"
#include "core/scheduler.h"
#include "core/technique/entry.h"

namespace weft::core {

/// What creator and child know of each other; in the creator's frame.
struct Spawn {
  Worker* worker;  // that both are on
  Unit* child;
  Unit* parent;
  bool child_came_back = false;
};

/// On the child's stack, first thing: the creator is saved by now, and can be stolen. True: it is in the deque.
inline bool offer_parent(const Spawn& spawn) {
  sanitizer::arrive(nullptr, nullptr, nullptr);
  Worker& worker = *spawn.worker;
  Unit& parent = *spawn.parent;
  const bool elsewhere = worker.scheduler() != nullptr || parent.pool.load(std::memory_order_relaxed) != nullptr;
  // Thieves take it from the deque: ThreadSanitizer must see it go there, and what includes this is not instrumented.
  if (elsewhere || sanitizer::active) [[unlikely]] {
    put_ready(worker, parent);
    return !elsewhere;
  }
  put_newest(worker, parent);
  notify();
  return true;
}

/// On the child's stack, last thing, if the creator was put into the deque. True: the creator is still there, and the
/// child's to go back to. False: it has been left to the scheduler to find out what comes next.
inline bool take_parent_back(Spawn& spawn, Unit* parent, const Unit& child) {
  Worker& worker = *this_worker();
  // A creator that starts and joins again and again must not keep the others waiting for ever: what a scheduler would
  // ask between two units is asked here (in_a_row.cpp).
  if (is_turn_of_others(worker)) [[unlikely]]
    return false;
  Unit* newest = take_newest(worker);
  if (newest == nullptr) return false;
  if (newest != parent || newest->next != &child) {
    worker.deque.push(newest);
    notify();  // while it was in hand, a worker that went to sleep could not see it
    return false;
  }
  spawn.child_came_back = true;
  sanitizer::leave(nullptr, parent->stack->fiber, parent->stack->memory.low, parent->stack->size());
  return true;
}

/// The creator's side of it; `start` enters the child and returns when the creator goes on.
template <class Start>
void spawn_child(Worker& worker, Unit& child, Start start) {
  Unit& parent = *worker.current;
  Spawn spawn{&worker, &child, &parent};
  Stack* stack = bind_stack(worker, child);
  parent.next = &child;
  const bool departed_before = leave_behind(worker, parent, UnitState::ready);
  begin(worker, child, stack, stack->top());
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  const std::intptr_t resumer = start(&parent.context, stack->top(), &spawn);
  note_return(fake, resumer == from_scheduler);
  if (!spawn.child_came_back) {
    // Continued by a scheduler, perhaps another worker's; the child may be gone.
    parent.next = nullptr;
    if (!departed_before) note_first_deviation(*this_worker(), parent);
    return;
  }
  parent.departed = departed_before;
  end_undeviated(worker, child, &parent);
  parent.state.store(UnitState::running, std::memory_order_relaxed);
}

}  // namespace weft::core
