// Pools over the work-stealing deque: what push, pop and steal mean at its two ends.
//
// A deque whose owner only pushes is a queue for one producer, and no push takes a locked instruction; nor does a pop,
// if there is one consumer. With several producers the owner's end has a lock: whoever holds it is the owner, and
// thieves do not notice.
//
// Without memory for a longer deque, what is pushed waits in a list, and comes out when the deque is empty: out of
// turn, but a push never fails. The resumer of a unit could do nothing about it.
//
// A steal that lost a race tries again: nullptr means that there was a moment at which nothing was there.
#pragma once

#include <cstddef>

#include "core/pool/chain.h"
#include "core/pool/deque.h"
#include "core/pool/list.h"
#include "core/spinlock.h"
#include "core/unit.h"

namespace weft::core {

class OverDeque {
 public:
  void push(Unit* unit) {
    if (!deque_.try_push(unit)) [[unlikely]]
      rest_.push(unit);
  }
  void push_many(Unit* first, Unit* last, std::size_t) {
    for_each_in_chain(first, last, [this](Unit* unit) { push(unit); });
  }
  std::size_t size() const { return deque_.size() + rest_.size(); }

 protected:
  Unit* steal_in_the_end() {
    while (deque_.size() != 0) {
      Unit* unit = deque_.steal();
      if (unit != nullptr) return unit;
    }
    return rest_.pop();
  }

  Unit* or_of_the_rest(Unit* unit) { return unit != nullptr ? unit : rest_.pop(); }

  Deque<Unit> deque_;

 private:
  List<Order::fifo, Spinlock> rest_;
};

/// First in first out, SPSC.
class FifoForOne : public OverDeque {
 public:
  Unit* pop() { return or_of_the_rest(deque_.steal_alone()); }
};

/// First in first out, SPMC.
class FifoFromOne : public OverDeque {
 public:
  Unit* pop() { return steal_in_the_end(); }
};

/// One worker alone at both ends.
class PrivateDeque : public OverDeque {
 public:
  Unit* pop() { return or_of_the_rest(deque_.pop_alone()); }
  Unit* steal() { return or_of_the_rest(deque_.steal_alone()); }
};

/// SPMC with NoLock: the owner is the one producer. MPMC with Spinlock. That one is held while the array grows: that is
/// long, but rare, and thieves go on.
template <class OwnerLock>
class SharedDeque : public OverDeque {
 public:
  void push(Unit* unit) {
    Guard guard(owner_);
    OverDeque::push(unit);
  }
  void push_many(Unit* first, Unit* last, std::size_t count) {
    Guard guard(owner_);
    OverDeque::push_many(first, last, count);
  }
  Unit* pop() {
    if (size() == 0) return nullptr;
    Guard guard(owner_);
    return or_of_the_rest(deque_.pop());
  }
  unsigned pop_many(Unit** units, unsigned most) {
    if (size() == 0) return 0;
    Guard guard(owner_);
    unsigned taken = 0;
    while (taken < most && (units[taken] = or_of_the_rest(deque_.pop())) != nullptr) ++taken;
    return taken;
  }
  Unit* steal() { return steal_in_the_end(); }

 private:
  [[no_unique_address]] OwnerLock owner_;
};

}  // namespace weft::core
