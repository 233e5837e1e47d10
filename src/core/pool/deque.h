// The work-stealing deque: the owner pushes and pops at the bottom, anybody steals at the top.
//
// After D. Chase and Y. Lev, "Dynamic Circular Work-Stealing Deque" (SPAA 2005), with the orderings
// that N. M. Le, A. Pop, A. Cohen and F. Zappa Nardelli proved for C11 ("Correct and Efficient
// Work-Stealing for Weak Memory Models", PPoPP 2013).
//
// Guarantees: every element pushed is taken exactly once, by a pop or by a steal; the array grows, and
// a push fails only without memory for that; pop and steal return nullptr when they find nothing or lose a race.
//
// Fences, by letter. (A) push publishes the element by the release store of bottom_; steal's acquire
// load of bottom_ is its partner. (B) pop must see a thief's top_ after its own claim on bottom_ is
// visible, steal must read bottom_ after top_: these loads and stores are seq_cst, which orders the store-load pairs.
// (C) the compare-exchange on top_ decides who gets the last element. push's acquire load of top_ is its other partner:
// the thief has read a slot before the owner uses that for another element.
// (D) grow publishes an array, with its elements, by the release store of array_; the thieves' acquire loads of array_
// are its partners. The owner reads it relaxed, being the only one who writes it.
// Old arrays stay readable until the deque is destroyed, since a thief may still hold one; they add
// up to less than the current one.
//
// The functions that end in _alone need no fence and no exchange: who calls them is alone (core/privacy.h). So
// push_oldest_alone() and rotate_alone() may move top_ back: no thief is between its look at top_ and its exchange,
// which would take the old value for the new one, for a steal lies within a Privacy::Visit as a whole.
//
// Rejected: an owner that is always without fence (B), and whose thief calls membarrier instead, each time. The
// thief would pay 17 us for each steal; with core/privacy.h it does once in a while.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "base/layout.h"
#include "base/panic.h"

namespace weft::core {

template <class T>
class Deque {
  struct Array {
    Array* older;
    std::int64_t capacity;  // a power of two
    bool is_room;           // and is not to be freed
    std::atomic<T*>* slots() { return reinterpret_cast<std::atomic<T*>*>(this + 1); }
    std::atomic<T*>& slot(std::int64_t index) { return slots()[index & (capacity - 1)]; }
  };

  static constexpr std::int64_t first_capacity = 64;

 public:
  /// For the first elements. Outlives the deque.
  class Room {
    friend class Deque;
    Array array_{nullptr, first_capacity, true};
    std::atomic<T*> slots_[first_capacity] = {};  // Array::slots()
  };

  Deque() = default;
  /// The same, for an owner whose thread is not to come to malloc() for few elements: there it would get an arena.
  explicit Deque(Room& room) : array_(&room.array_) {}
  Deque(const Deque&) = delete;
  Deque& operator=(const Deque&) = delete;
  ~Deque() {
    for (Array* array = array_.load(std::memory_order_relaxed); array != nullptr;) {
      Array* older = array->older;
      if (!array->is_room) std::free(array);
      array = older;
    }
  }

  /// Owner only; ends the process without memory.
  void push(T* element) {
    if (!try_push(element)) [[unlikely]]
      base::panic("no memory for %zu pending units", 2 * size());
  }

  /// Owner only. False: no memory; nothing has changed.
  [[nodiscard]] bool try_push(T* element) { return push_if_room(element) || push_growing(element); }

  /// The same, but only where the array need not grow. False: it must.
  [[gnu::always_inline]] bool push_if_room(T* element) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Array* array = array_.load(std::memory_order_relaxed);
    if (array == nullptr || bottom - top_.load(std::memory_order_acquire) >= array->capacity) [[unlikely]]
      return false;
    array->slot(bottom).store(element, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_release);  // (A)
    return true;
  }

  /// Owner only. For several pushes in one: room for so many (false: no memory), the one that shall be pushed as the
  /// `index`th, and all of them.
  [[nodiscard]] bool reserve(std::size_t count) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_acquire);
    const std::int64_t wanted = bottom - top + static_cast<std::int64_t>(count);
    Array* array = array_.load(std::memory_order_relaxed);
    while (array == nullptr || array->capacity < wanted)
      if (array = grow(array, top, bottom); array == nullptr) return false;
    return true;
  }
  void prepare(std::size_t index, T* element) {
    array_.load(std::memory_order_relaxed)
        ->slot(bottom_.load(std::memory_order_relaxed) + static_cast<std::int64_t>(index))
        .store(element, std::memory_order_relaxed);
  }
  void push_prepared(std::size_t count) {
    bottom_.store(bottom_.load(std::memory_order_relaxed) + static_cast<std::int64_t>(count),
                  std::memory_order_release);  // (A)
  }

  /// Owner only: the element pushed last.
  T* pop() { return claim() != nullptr ? finish_claim() : nullptr; }

  /// The same for an owner that others may have left alone, which `privacy` (core/privacy.h) knows; then those who
  /// steal do it within a visit.
  template <class Privacy>
  T* pop(Privacy& privacy) {
    T* element = claim();
    if (element == nullptr || privacy.is_private_after()) return element;
    element = finish_claim();
    if (element != nullptr) privacy.pass();
    return element;
  }

  /// Anybody: the element pushed first. nullptr also when another thief was faster.
  T* steal() {
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);  // (B), (A)
    if (top >= bottom) return nullptr;
    Array* array = array_.load(std::memory_order_acquire);
    T* element = array->slot(top).load(std::memory_order_relaxed);
    if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))  // (C)
      return nullptr;
    return element;
  }

  /// pop() without fence (B) and exchange (C), for an owner whose deque nobody else touches.
  T* pop_alone() { return claim(); }

  /// pop() in two steps, for an owner that may be alone. The first: the element that is the owner's if nobody else
  /// touches the deque; nullptr: it is empty. If somebody may, finish_claim() is the second, and says what pop() would.
  T* claim() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;
    T* element = array_.load(std::memory_order_relaxed)->slot(bottom).load(std::memory_order_relaxed);
    bottom_.store(bottom, std::memory_order_relaxed);
    return element;
  }
  T* finish_claim() {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    bottom_.store(bottom, std::memory_order_seq_cst);  // (B)
    std::int64_t top = top_.load(std::memory_order_seq_cst);
    if (top < bottom) return slot_at(bottom);
    T* element = nullptr;
    if (top == bottom) {
      element = slot_at(bottom);
      if (!top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst, std::memory_order_relaxed))  // (C)
        element = nullptr;
    }
    bottom_.store(bottom + 1, std::memory_order_relaxed);
    return element;
  }

  /// steal() without fence (B) and exchange (C), for the only thief of an owner that does not pop meanwhile.
  /// The release store of top_ has push's acquire load for a partner: the slot is read before it is used again.
  T* steal_alone() {
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    if (top >= bottom_.load(std::memory_order_acquire)) return nullptr;  // (A)
    T* element = array_.load(std::memory_order_acquire)->slot(top).load(std::memory_order_relaxed);
    top_.store(top + 1, std::memory_order_release);
    return element;
  }

  /// push() at the other end, for an owner whose deque nobody else touches: steal() would take it first, pop() last.
  /// False: no memory.
  [[nodiscard]] bool push_oldest_alone(T* element) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    Array* array = array_.load(std::memory_order_relaxed);
    if (array == nullptr || bottom - top >= array->capacity) [[unlikely]]
      array = grow(array, top, bottom);
    if (array == nullptr) [[unlikely]]
      return false;
    array->slot(top - 1).store(element, std::memory_order_relaxed);
    top_.store(top - 1, std::memory_order_release);
    return true;
  }

  /// push_oldest_alone() and drop_alone() in one. False: the array would have to grow, and nothing has happened.
  [[gnu::always_inline]] bool rotate_alone(T* element) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    Array* array = array_.load(std::memory_order_relaxed);
    if (bottom - top >= array->capacity) [[unlikely]]
      return false;
    array->slot(top - 1).store(element, std::memory_order_relaxed);
    top_.store(top - 1, std::memory_order_release);
    bottom_.store(bottom - 1, std::memory_order_release);  // looks_empty()
    return true;
  }

  /// For an owner whose deque nobody else touches: the element that a number, of any size, stands for; the oldest
  /// fills its place.
  T* pop_any_alone(std::uint32_t number) {
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    if (top >= bottom) return nullptr;
    Array* array = array_.load(std::memory_order_relaxed);
    auto& slot = array->slot(top + static_cast<std::int64_t>(number % static_cast<std::uint64_t>(bottom - top)));
    T* element = slot.load(std::memory_order_relaxed);
    slot.store(array->slot(top).load(std::memory_order_relaxed), std::memory_order_relaxed);
    top_.store(top + 1, std::memory_order_relaxed);
    return element;
  }

  /// Takes out this element, wherever it stands, for an owner whose deque nobody else touches. False: it is not there.
  bool remove_alone(const T* element) {
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    Array* array = array_.load(std::memory_order_relaxed);
    std::int64_t at = bottom - 1;
    while (at >= top && array->slot(at).load(std::memory_order_relaxed) != element) --at;
    if (at < top) return false;
    for (; at + 1 < bottom; ++at)
      array->slot(at).store(array->slot(at + 1).load(std::memory_order_relaxed), std::memory_order_relaxed);
    bottom_.store(bottom - 1, std::memory_order_relaxed);
    return true;
  }

  /// Owner only: the element that pop() would try next, left where it is.
  T* peek() const {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
    if (top_.load(std::memory_order_relaxed) > bottom) return nullptr;
    return array_.load(std::memory_order_relaxed)->slot(bottom).load(std::memory_order_relaxed);
  }

  /// Owner only: whether one of those `most` that pop() would try next is this one.
  bool is_among_newest(const T* element, std::int64_t most) const {
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    std::int64_t at = bottom_.load(std::memory_order_relaxed) - 1;
    const std::int64_t last = at - most < top - 1 ? top - 1 : at - most;
    Array* array = array_.load(std::memory_order_relaxed);
    for (; at > last; --at)
      if (array->slot(at).load(std::memory_order_relaxed) == element) return true;
    return false;
  }

  /// Takes out what peek() has given, for an owner whose deque nobody else touches meanwhile.
  void drop_alone() { bottom_.store(bottom_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }

  /// How many have been pushed, and how many of them have been taken, where only push() and the steals are used. Hints.
  std::int64_t pushed() const { return bottom_.load(std::memory_order_relaxed); }
  std::int64_t taken() const { return top_.load(std::memory_order_relaxed); }

  /// Anybody; exact when nobody else is at it. top_ is read first: 0 means that it was empty at that moment.
  std::size_t size() const {
    const std::int64_t top = top_.load(std::memory_order_acquire);
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    return bottom > top ? static_cast<std::size_t>(bottom - top) : 0;
  }

  /// Anybody; a hint. In this order, so that rotate_alone(), which moves top_ first, never looks like an empty deque.
  bool looks_empty() const {
    const std::int64_t bottom = bottom_.load(std::memory_order_acquire);
    return top_.load(std::memory_order_relaxed) >= bottom;
  }

 private:
  [[gnu::noinline]] bool push_growing(T* element) {
    const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
    const std::int64_t top = top_.load(std::memory_order_acquire);
    Array* array = grow(array_.load(std::memory_order_relaxed), top, bottom);
    if (array == nullptr) return false;
    array->slot(bottom).store(element, std::memory_order_relaxed);
    bottom_.store(bottom + 1, std::memory_order_release);  // (A)
    return true;
  }

  T* slot_at(std::int64_t index) const {
    return array_.load(std::memory_order_relaxed)->slot(index).load(std::memory_order_relaxed);
  }

  Array* grow(Array* old, std::int64_t top, std::int64_t bottom) {
    const std::int64_t capacity = old == nullptr ? first_capacity : old->capacity * 2;
    void* memory = std::malloc(sizeof(Array) + static_cast<std::size_t>(capacity) * sizeof(std::atomic<T*>));
    if (memory == nullptr) return nullptr;
    auto array = new (memory) Array{old, capacity, false};
    for (std::int64_t index = top; old != nullptr && index < bottom; ++index)
      new (&array->slot(index)) std::atomic<T*>(old->slot(index).load(std::memory_order_relaxed));
    array_.store(array, std::memory_order_release);
    return array;
  }

  alignas(base::cache_line) std::atomic<std::int64_t> top_{0};
  alignas(base::cache_line) std::atomic<std::int64_t> bottom_{0};
  std::atomic<Array*> array_{nullptr};
};

}  // namespace weft::core
