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
// A root cannot be continued by others: its child runs on top of it, as under a scheduler.
#pragma once

#include "arch/context.h"
#include "core/create.h"
#include "core/find.h"
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

/// On the child's stack, first thing: the creator is saved by now, and can be stolen.
inline void offer_parent(const Spawn& spawn) {
  sanitizer::arrive(nullptr, nullptr, nullptr);
  Worker& worker = *spawn.worker;
  put_newest(worker, *spawn.parent);
  notify();
}

/// On the child's stack, last thing. True: the creator is still there, and the child's to go back to. False: it has
/// been left to the scheduler to find out what comes next.
inline bool take_parent_back(Spawn& spawn, Unit* parent, const Unit& child) {
  Worker& worker = *this_worker();
  Unit* newest = take_newest(worker);
  if (newest == nullptr) return false;
  if (newest != parent || newest->next != &child) {
    worker.deque.push(newest);
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
  const bool departed_before = parent.departed;
  if (worker.warm == parent.stack) worker.warm = nullptr;  // the parent may go on elsewhere
  Stack* stack = bind_stack(worker, child);
  parent.next = &child;
  parent.departed = true;  // who finds it continues it
  parent.state.store(UnitState::ready, std::memory_order_relaxed);
  begin(worker, child, stack, stack->top());
  void* fake = nullptr;
  sanitizer::leave(&fake, stack->fiber, stack->memory.low, stack->size());
  start(&parent.context, stack->top(), &spawn);
  const void* low = nullptr;
  std::size_t size = 0;
  sanitizer::arrive(fake, &low, &size);
  if (!spawn.child_came_back) {
    if constexpr (sanitizer::active) {  // below it is now the scheduler that it came back from
      this_worker()->frame_stack = const_cast<void*>(low);
      this_worker()->frame_stack_size = size;
    }
    // Continued by a scheduler, perhaps another worker's; the child may be gone.
    parent.next = nullptr;
    if (!departed_before) note_first_deviation(*this_worker(), parent);
    return;
  }
  parent.departed = departed_before;
  parent.state.store(UnitState::running, std::memory_order_relaxed);
  end_undeviated(worker, child);
  worker.current = &parent;
}

}  // namespace weft::core
