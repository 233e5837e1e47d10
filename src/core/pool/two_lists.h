// First in first out for several producers: they append to one list, consumers take from another, and a consumer that
// finds its list empty takes the whole of the producers' list. So the two sides meet once per many units.
//
// Guarantees: units come out in the order in which their pushes took the producers' lock. With a single consumer
// (ConsumerLock = NoLock) a pop takes no lock but to fetch; with several they have one of their own. A consumer that
// holds both took its own first.
//
// After the two-lock queue of M. M. Michael and M. L. Scott, "Simple, Fast, and Practical Non-Blocking and Blocking
// Concurrent Queue Algorithms" (PODC 1996). Theirs keeps a dummy node between head and tail, which an intrusive list
// has not; the second list stands in its place.
//
// Rejected: a Treiber stack for the producers (as inbox.h), and D. Vyukov's intrusive MPSC queue (2010). Both take one
// locked instruction for a push, as the lock does, and one more for the count; the latter may also look empty while it
// is not, which pop must never (pool.h).
//
// The size: popped_ is read before pushed_. What was popped had been pushed before (popped_'s release store,
// Count::get()'s acquire load), so the difference is never negative, and 0 only if it was 0 when popped_ was read.
#pragma once

#include <cstddef>

#include "base/fifo.h"
#include "base/layout.h"
#include "core/pool/count.h"
#include "core/spinlock.h"
#include "core/unit.h"

namespace weft::core {

template <class ConsumerLock>
class TwoLists {
 public:
  void push(Unit* unit) { push_many(unit, unit, 1); }

  void push_many(Unit* first, Unit* last, std::size_t count) {
    Guard guard(producers_);
    pushed_units_.append(first, last);
    pushed_.add(count);
  }

  Unit* pop() {
    Unit* unit = nullptr;
    return pop_many(&unit, 1) != 0 ? unit : nullptr;
  }

  unsigned pop_many(Unit** units, unsigned most) {
    if (size() == 0) return 0;
    Guard guard(consumers_);
    unsigned taken = 0;
    while (taken < most && fetch()) units[taken++] = units_.pop();
    popped_.add(taken);
    return taken;
  }

  std::size_t size() const {
    const std::size_t popped = popped_.get();
    return pushed_.get() - popped;
  }

 private:
  // Whether the consumers' list has anything now.
  bool fetch() {
    if (!units_.empty()) return true;
    Guard guard(producers_);
    units_ = pushed_units_.take_all();
    return !units_.empty();
  }

  using Units = base::Fifo<Unit, &Unit::next>;

  alignas(base::cache_line) Spinlock producers_;
  Units pushed_units_;
  Count pushed_;
  alignas(base::cache_line) [[no_unique_address]] ConsumerLock consumers_;
  Units units_;
  Count popped_;
};

}  // namespace weft::core
