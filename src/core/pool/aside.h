// What roots have put aside at a worker: ready units that they came across and may not run. Others take from there,
// each what it may run itself; the rest stays in its place, so that nobody who looks can miss it.
//
// A list under a lock, not an inbox: a root takes what lies within its own wait and nothing else. Were it to take all
// and put the rest back, somebody could look in between, see nothing, and go to sleep over a unit that is for him.
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

  void put(Unit& unit) {
    unit.next = nullptr;
    SpinGuard guard(lock_);
    *end_ = &unit;
    end_ = &unit.next;
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// The oldest that lies within the scope, or nullptr.
  Unit* take(const Share* scope) {
    if (looks_empty()) return nullptr;
    SpinGuard guard(lock_);
    Unit** link = find(scope);
    Unit* unit = *link;
    if (unit == nullptr) return nullptr;
    *link = unit->next;
    if (end_ == &unit->next) end_ = link;
    count_.store(count_.load(std::memory_order_relaxed) - 1, std::memory_order_release);
    return unit;
  }

  bool has(const Share* scope) {
    if (looks_empty()) return false;
    if (scope == nullptr) return true;
    SpinGuard guard(lock_);
    return *find(scope) != nullptr;
  }

  bool looks_empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  // What points to the first that lies within the scope, or to the end.
  Unit** find(const Share* scope) {
    Unit** link = &first_;
    while (*link != nullptr && !may_run(scope, **link)) link = &(*link)->next;
    return link;
  }

  Spinlock lock_;
  std::atomic<unsigned> count_{0};
  Unit* first_ = nullptr;
  Unit** end_ = &first_;
};

}  // namespace weft::core
