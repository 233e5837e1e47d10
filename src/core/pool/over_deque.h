// Pools over the work-stealing deque: what push, pop and steal mean at its two ends.
//
// A deque whose owner only pushes is a queue for one producer, and no push takes a locked instruction; nor does a pop,
// if there is one consumer. With several producers the owner's end has a lock: whoever holds it is the owner, and
// thieves do not notice. With one producer there is none: the owner is who pushes, and whoever else pops steals. (Bug:
// they popped as the owner does, at the same time as that.)
//
// Rejected: to ask which worker serves the pool (Pool::server). That may be another one than pushes, and then each of
// the two would take itself for the owner.
//
// Beside the deque there is a list, for what gives way, for what comes back from others than the owner, and for what is
// pushed without memory for a longer deque: a push never fails, for the resumer of a unit could do nothing about it.
// Where the newest comes first, the list has its turn when the deque is empty, at either end: so what gives way is
// behind all others for the owner and for thieves. First in first out, it takes turns with the deque: what is found in
// the list comes when all has gone that stood in the deque then. So nothing waits for more than there was before it,
// but for what was pushed between its coming and the next pop.
//
// Rejected, first in first out: to look into the list when the deque is empty. (Bug: where a producer never lets it be
// empty, what had yielded never went on.)
//
// A steal that lost a race tries again: nullptr means that there was a moment at which nothing was there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "arch/thread_pointer.h"
#include "core/pool/chain.h"
#include "core/pool/deque.h"
#include "core/pool/list.h"
#include "core/pool/take_many.h"
#include "core/spinlock.h"
#include "core/unit.h"

namespace weft::core {

template <class RestLock>
class OverDeque {
 public:
  void push(Unit* unit) {
    if (!deque_.try_push(unit)) [[unlikely]]
      rest_.push(unit);
  }
  void push_many(Unit* first, Unit* last, std::size_t) {
    for_each_in_chain(first, last, [this](Unit* unit) { push(unit); });
  }
  /// By anybody, unless the list has no lock.
  void push_behind(Unit* unit) { rest_.push(unit); }
  std::size_t size() const { return deque_.size() + rest_.size(); }

 protected:
  Unit* steal_from_deque() {
    while (deque_.size() != 0) {
      Unit* unit = deque_.steal();
      if (unit != nullptr) return unit;
    }
    return nullptr;
  }

  Unit* or_of_the_rest(Unit* unit) { return unit != nullptr ? unit : rest_.pop(); }

  [[no_unique_address]] Deque<Unit> deque_;  // what follows lies in its last cache line
  List<Order::fifo, RestLock> rest_;
};

/// First in first out. SPSC with NoLock, SPMC with Spinlock.
template <class ConsumerLock>
class FifoFromOne : public OverDeque<Spinlock> {
 public:
  Unit* pop() {
    if (rest_.size() == 0) [[likely]] {
      Unit* unit = take_from_deque();
      if (unit != nullptr || rest_.size() == 0) return unit;
    }
    return pop_in_turn();
  }

 private:
  Unit* take_from_deque() {
    if constexpr (std::is_same_v<ConsumerLock, NoLock>) return deque_.steal_alone();
    return steal_from_deque();
  }

  // The first `due_` of the list have their turn when so many have gone through the deque. Whoever takes from the list
  // has the lock, so that as many are there.
  [[gnu::noinline]] Unit* pop_in_turn() {
    Guard guard(consumers_);
    if (due_ == 0) {
      due_ = rest_.size();
      turn_ = deque_.pushed();
    }
    if (due_ == 0 || deque_.taken() < turn_)
      if (Unit* unit = take_from_deque(); unit != nullptr) return unit;
    if (due_ == 0) return nullptr;
    --due_;
    return rest_.pop();
  }

  [[no_unique_address]] ConsumerLock consumers_;
  std::size_t due_ = 0;
  std::int64_t turn_ = 0;
};

/// One worker alone at both ends.
class PrivateDeque : public OverDeque<NoLock> {
 public:
  Unit* pop() { return or_of_the_rest(deque_.pop_alone()); }
  Unit* steal() { return or_of_the_rest(deque_.steal_alone()); }
};

/// SPMC: the owner is the one producer, a worker or a thread that has none. Another one may follow it when it has done
/// with both ends.
class OwnedDeque : public OverDeque<Spinlock> {
 public:
  void push(Unit* unit) {
    note_owner();
    OverDeque::push(unit);
  }
  void push_many(Unit* first, Unit* last, std::size_t count) {
    note_owner();
    OverDeque::push_many(first, last, count);
  }
  Unit* pop() { return is_owner() ? or_of_the_rest(deque_.pop()) : steal(); }
  Unit* steal() { return or_of_the_rest(steal_from_deque()); }

 private:
  static const void* self() {
    const void* worker = arch::thread_word();
    return worker != nullptr ? worker : arch::thread_pointer();
  }
  // Relaxed, as each looks only for what it has written itself.
  bool is_owner() const { return owner_.load(std::memory_order_relaxed) == self(); }
  void note_owner() {
    if (!is_owner()) [[unlikely]]
      owner_.store(self(), std::memory_order_relaxed);
  }

  std::atomic<const void*> owner_{nullptr};
};

/// MPMC. The lock is held while the array grows: that is long, but rare, and thieves go on.
class SharedDeque : public OverDeque<Spinlock> {
 public:
  /// Whoever has pushed the last one has let go of the lock: thieves have that one before.
  ~SharedDeque() { Guard guard(owner_); }
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
    return take_many(units, most, [this] { return or_of_the_rest(deque_.pop()); });
  }
  Unit* steal() { return or_of_the_rest(steal_from_deque()); }

 private:
  Spinlock owner_;
};

}  // namespace weft::core
