// A pool in one list, first or last in first out, behind one lock.
//
// Whoever looks for a unit reads the count first, so that consumers in vain leave the lock to the producers.
// A count of 0 is the truth for one moment: a unit pushed before the look is counted, until it is taken.
//
// Rejected: R. K. Treiber's stack (1986) for the shared last in first out. With several consumers it needs a
// double-width compare-exchange against ABA and must read the link of a unit that may be gone; and with a count it
// takes two locked instructions for a push, the lock one.
#pragma once

#include <cstddef>

#include "base/fifo.h"
#include "core/pool/chain.h"
#include "core/pool/count.h"
#include "core/pool/order.h"
#include "core/spinlock.h"
#include "core/unit.h"

namespace weft::core {

template <Order order, class Lock>
class List {
  static_assert(order == Order::fifo || order == Order::lifo);

 public:
  void push(Unit* unit) { put(unit, unit, 1); }

  void push_many(Unit* first, Unit* last, std::size_t count) {
    if constexpr (order == Order::fifo) {
      put(first, last, count);
    } else {
      reverse_chain(first, last);
      put(last, first, count);
    }
  }

  void push_behind(Unit* unit) {
    Guard guard(lock_);
    units_.push(unit);
    count_.add(1);
  }

  Unit* pop() {
    if (size() == 0) return nullptr;
    Guard guard(lock_);
    Unit* unit = units_.pop();
    if (unit != nullptr) count_.subtract(1);
    return unit;
  }

  unsigned pop_many(Unit** units, unsigned most) {
    if (size() == 0) return 0;
    Guard guard(lock_);
    unsigned taken = 0;
    while (taken < most && !units_.empty()) units[taken++] = units_.pop();
    count_.subtract(taken);
    return taken;
  }

  std::size_t size() const { return count_.get(); }

 private:
  void put(Unit* first, Unit* last, std::size_t count) {
    Guard guard(lock_);
    if constexpr (order == Order::fifo)
      units_.append(first, last);
    else
      units_.prepend(first, last);
    count_.add(count);
  }

  [[no_unique_address]] Lock lock_;
  base::Fifo<Unit, &Unit::next> units_;
  Count count_;
};

}  // namespace weft::core
