// What roots have put aside at a worker: ready units that they came across and may not run. Others take from there,
// each what it may run itself; the rest stays in its place, so that nobody who looks can miss it.
//
// A list under a lock, not an inbox: a root takes what lies within its own wait and nothing else. Were it to take all
// and put the rest back, somebody could look in between, see nothing, and go to sleep over a unit that is for him.
//
// A placed unit (place_pools.h) that a root has come across in its wait lies here as in the pool that it came from: as
// long as the root waits and is awake, only workers of that place take it, and when the wait is over it goes back
// there. Were it left to the others, their KLT would have to come to the CPU on which the root spins, and the kernel
// takes milliseconds. But a root that sleeps leaves its CPU to them, and tells them (idle.cpp, sleep).
#pragma once

#include <atomic>

#include "core/pool/share.h"
#include "core/spinlock.h"
#include "core/unit.h"

namespace weft::core {

class Aside {
 public:
  /// Whether something that runs only what lies within the scope may run the unit; nullptr: it runs anything.
  static bool may_run(const Share* scope, const Unit& unit) {
    return scope == nullptr || (scope_of(unit) != nullptr && scope_of(unit)->lies_within(scope));
  }

  /// Who looks: what it may run.
  struct Looker {
    const Share* scope = nullptr;    // nullptr: anything
    const Pool* attended = nullptr;  // and which placed units,
    bool everywhere = true;          // if not all
    bool may_take(const Unit& unit) const {
      if (!may_run(scope, unit)) return false;
      if (everywhere || !has_flag(unit, UnitFlag::placed)) return true;
      const Pool* pool = unit.pool.load(std::memory_order_relaxed);
      return pool == nullptr || pool == attended;
    }
  };

  void put(Unit& unit) {
    unit.next = nullptr;
    SpinGuard guard(lock_);
    *end_ = &unit;
    end_ = &unit.next;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// The oldest that it may take, or nullptr.
  Unit* take(const Looker& looker) {
    return take_first([&looker](const Unit& unit) { return looker.may_take(unit); });
  }

  /// The oldest that has a place, and a pool there.
  Unit* take_placed() {
    return take_first([](const Unit& unit) {
      return has_flag(unit, UnitFlag::placed) && unit.pool.load(std::memory_order_relaxed) != nullptr;
    });
  }

  bool has(const Looker& looker) {
    if (looks_empty()) return false;
    if (looker.scope == nullptr && looker.everywhere) return true;  // no lock: asked in signal handlers (step_aside)
    SpinGuard guard(lock_);
    return *find([&looker](const Unit& unit) { return looker.may_take(unit); }) != nullptr;
  }

  bool looks_empty() const { return size() == 0; }
  /// As it was a moment ago.
  unsigned size() const { return count_.load(std::memory_order_relaxed); }

 private:
  template <class Suits>
  Unit* take_first(Suits suits) {
    if (looks_empty()) return nullptr;
    SpinGuard guard(lock_);
    Unit** link = find(suits);
    Unit* unit = *link;
    if (unit == nullptr) return nullptr;
    *link = unit->next;
    if (end_ == &unit->next) end_ = link;
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    return unit;
  }

  // What points to the first that suits, or to the end.
  template <class Suits>
  Unit** find(Suits suits) {
    Unit** link = &first_;
    while (*link != nullptr && !suits(**link)) link = &(*link)->next;
    return link;
  }

  Spinlock lock_;
  std::atomic<unsigned> count_{0};
  Unit* first_ = nullptr;
  Unit** end_ = &first_;
};

}  // namespace weft::core
