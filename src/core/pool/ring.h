// A pool of one worker alone, who is producer and consumer: the addresses of its units in an array that grows, not in a
// list. So a push and a pop write one word or two, neither touches a unit but the one that it is about, and what comes
// next is known before that one has been read.
//
// Guarantees: first in first out, or last in first out, and a push never fails: without memory for a longer array,
// what is pushed waits in a list behind it (`rest_`) until that is empty again. Last in first out, it comes out before
// what the array holds; first in first out, after it. While it holds something no push goes into the array (`room_` is
// 0), so the order holds.
//
// Others only ask for the size. First in first out, neither oldest_ nor newest_ ever goes back, and oldest_ is read
// first: so the difference is never negative, and 0 only if it was 0 when oldest_ was read. Last in first out, oldest_
// only goes back (push_behind), and is read last: who has read newest_ (acquire; partner: the release stores) sees an
// oldest_ that is no higher than it was then, and that was no higher than newest_.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/fifo.h"
#include "core/pool/chain.h"
#include "core/pool/count.h"
#include "core/pool/order.h"
#include "core/pool/take_many.h"
#include "core/unit.h"

namespace weft::core {

template <Order order>
class Ring {
  static_assert(order == Order::fifo || order == Order::lifo);

 public:
  Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { std::free(slots_); }

  void push(Unit* unit) {
    if (!push_if_room(unit)) [[unlikely]]
      push_slowly(unit);
  }

  /// False: the array would have to grow, and nothing has happened.
  bool push_if_room(Unit* unit) {
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    if (newest - oldest_.load(std::memory_order_relaxed) >= room_) [[unlikely]]
      return false;
    slots_[newest & mask_] = unit;
    newest_.store(newest + 1, std::memory_order_release);
    return true;
  }

  /// Last in first out: behind all others.
  void push_behind(Unit* unit) requires(order == Order::lifo) {
    if (!push_behind_if_room(unit)) [[unlikely]]
      push_behind_slowly(unit);
  }
  bool push_behind_if_room(Unit* unit) requires(order == Order::lifo) {
    const std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    if (newest_.load(std::memory_order_relaxed) - oldest >= room_) [[unlikely]]
      return false;
    slots_[(oldest - 1) & mask_] = unit;
    oldest_.store(oldest - 1, std::memory_order_release);
    return true;
  }

  /// For several pushes in one: room for so many (false: no memory, or the list behind comes first), the one that
  /// shall be pushed as the `index`th, and all of them.
  bool reserve(std::size_t count) {
    while (newest_.load(std::memory_order_relaxed) - oldest_.load(std::memory_order_relaxed) + count > room_)
      if (!rest_.empty() || !grow()) return false;
    return true;
  }
  void prepare(std::size_t index, Unit* unit) {
    slots_[(newest_.load(std::memory_order_relaxed) + index) & mask_] = unit;
  }
  void push_prepared(std::size_t count) {
    newest_.store(newest_.load(std::memory_order_relaxed) + count, std::memory_order_release);
  }

  void push_many(Unit* first, Unit* last, std::size_t) {
    for_each_in_chain(first, last, [this](Unit* unit) { push(unit); });
  }

  Unit* pop() {
    Unit* unit = nullptr;
    if (!peek(unit)) [[unlikely]]
      return pop_rest();
    drop();
    return unit;
  }

  /// What pop() would give, if that lies in the array. False: it does not, or there is nothing.
  bool peek(Unit*& unit) const {
    const std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    if (oldest == newest) return false;
    if constexpr (order == Order::fifo) {
      unit = slots_[oldest & mask_];
    } else {
      if (!rest_.empty()) [[unlikely]]
        return false;
      unit = slots_[(newest - 1) & mask_];
    }
    return true;
  }
  /// Takes out what peek() has given.
  [[gnu::always_inline]] void drop() {
    if constexpr (order == Order::fifo)
      oldest_.store(oldest_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    else
      newest_.store(newest_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
  }

  /// First in first out: takes out what peek() has given, and pushes this one. False: the list behind comes first, and
  /// nothing has happened.
  bool rotate(Unit* unit) {
    static_assert(order == Order::fifo);
    if (room_ == 0) [[unlikely]]
      return false;
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    const std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    slots_[newest & mask_] = unit;  // of a full array, the place of the one that goes
    newest_.store(newest + 1, std::memory_order_release);
    oldest_.store(oldest + 1, std::memory_order_release);
    return true;
  }

  /// What pop() would give.
  Unit* front() const {
    Unit* unit = nullptr;
    return peek(unit) ? unit : rest_.front();
  }

  /// Takes out this unit, wherever it stands.
  bool remove(const Unit* unit) {
    const std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    if constexpr (order == Order::fifo) {
      for (std::uint64_t at = oldest; at != newest; ++at) {
        if (slots_[at & mask_] != unit) continue;
        for (; at != oldest; --at) slots_[at & mask_] = slots_[(at - 1) & mask_];
        drop();
        return true;
      }
    } else {
      for (std::uint64_t at = newest; at != oldest; --at) {
        if (slots_[(at - 1) & mask_] != unit) continue;
        for (; at != newest; ++at) slots_[(at - 1) & mask_] = slots_[at & mask_];
        drop();
        return true;
      }
    }
    const bool found = rest_.take_if([unit](const Unit* one) { return one == unit; }) != nullptr;
    if (found) note_less_rest();
    return found;
  }

  unsigned pop_many(Unit** units, unsigned most) {
    return take_many(units, most, [this] { return pop(); });
  }

  std::size_t size() const {
    if constexpr (order == Order::lifo) {
      const std::uint64_t newest = newest_.load(std::memory_order_acquire);
      return newest - oldest_.load(std::memory_order_acquire) + rest_count_.get();
    }
    const std::uint64_t oldest = oldest_.load(std::memory_order_acquire);
    return newest_.load(std::memory_order_acquire) - oldest + rest_count_.get();
  }

 private:
  static constexpr std::size_t first_capacity = 64;

  [[gnu::noinline]] void push_slowly(Unit* unit) {
    if (rest_.empty() && grow()) {
      push(unit);
      return;
    }
    if constexpr (order == Order::fifo)
      rest_.append(unit, unit);
    else
      rest_.prepend(unit, unit);
    rest_count_.add(1);
    room_ = 0;
  }

  // Without memory for a longer array, the newest one in it makes room: it comes next after what the list holds.
  [[gnu::noinline]] void push_behind_slowly(Unit* unit) {
    if (rest_.empty() && grow()) {
      push_behind_if_room(unit);
      return;
    }
    const std::uint64_t oldest = oldest_.load(std::memory_order_relaxed);
    const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
    Unit* to_rest = unit;
    if (newest != oldest) {
      to_rest = slots_[(newest - 1) & mask_];
      slots_[(oldest - 1) & mask_] = unit;
      oldest_.store(oldest - 1, std::memory_order_release);
      newest_.store(newest - 1, std::memory_order_release);
    }
    rest_.push(to_rest);
    rest_count_.add(1);
    room_ = 0;
  }

  [[gnu::noinline]] Unit* pop_rest() {
    Unit* unit = rest_.pop();
    if (unit != nullptr) note_less_rest();
    return unit;
  }

  void note_less_rest() {
    rest_count_.subtract(1);
    if (rest_.empty()) room_ = capacity();
  }

  std::size_t capacity() const { return slots_ != nullptr ? mask_ + 1 : 0; }

  bool grow() {
    const std::size_t wanted = slots_ != nullptr ? 2 * capacity() : first_capacity;
    auto slots = static_cast<Unit**>(std::malloc(wanted * sizeof(Unit*)));
    if (slots == nullptr) return false;
    if (slots_ != nullptr) {
      const std::uint64_t newest = newest_.load(std::memory_order_relaxed);
      for (std::uint64_t at = oldest_.load(std::memory_order_relaxed); at != newest; ++at)
        slots[at & (wanted - 1)] = slots_[at & mask_];
      std::free(slots_);
    }
    slots_ = slots;
    mask_ = wanted - 1;
    room_ = wanted;
    return true;
  }

  Unit** slots_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t room_ = 0;  // the array's capacity; 0: nothing may be put there
  std::atomic<std::uint64_t> oldest_{0};
  std::atomic<std::uint64_t> newest_{0};
  base::Fifo<Unit, &Unit::next> rest_;
  Count rest_count_;
};

}  // namespace weft::core
