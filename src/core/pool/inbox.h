// The inbox of a worker: units that others hand to it. Anybody puts, anybody may take all.
//
// A Treiber stack of which only the whole is taken (one exchange), so that no element is ever
// unlinked on its own and ABA cannot happen. The taker turns the chain round: first in, first out.
// put()'s release makes the units, and their links, known to take_all()'s acquire: later puts prolong its release
// sequence, for each is a read-modify-write.
#pragma once

#include <atomic>

#include "base/layout.h"
#include "core/pool/chain.h"
#include "core/unit.h"

namespace weft::core {

class Inbox {
 public:
  /// Puts the chain first..last, linked by Unit::next from the one put last to the one put first.
  void put(Unit* newest, Unit* oldest) {
    Unit* head = head_.load(std::memory_order_relaxed);
    do {
      oldest->next = head;
    } while (!head_.compare_exchange_weak(head, newest, std::memory_order_release, std::memory_order_relaxed));
  }
  void put(Unit* unit) { put(unit, unit); }

  /// Everything, oldest first, linked by Unit::next.
  Unit* take_all() {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return reverse_chain(head_.exchange(nullptr, std::memory_order_acquire));
  }

  /// The older half of them, oldest first; the others stay, newer than what has come meanwhile. `some_stayed` says
  /// whether there are such: for a moment nobody could see them.
  Unit* take_older_half(bool& some_stayed) {
    some_stayed = false;
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    Unit* newest = head_.exchange(nullptr, std::memory_order_acquire);
    if (newest == nullptr) return nullptr;
    Unit* last_to_stay = nullptr;
    Unit* ahead = newest->next;  // twice as fast
    while (ahead != nullptr) {
      last_to_stay = last_to_stay == nullptr ? newest : last_to_stay->next;
      ahead = ahead->next != nullptr ? ahead->next->next : nullptr;
    }
    if (last_to_stay == nullptr) return newest;
    Unit* older_half = last_to_stay->next;
    put(newest, last_to_stay);
    some_stayed = true;
    return reverse_chain(older_half);
  }

  bool looks_empty() const { return head_.load(std::memory_order_relaxed) == nullptr; }

 private:
  alignas(base::cache_line) std::atomic<Unit*> head_{nullptr};
};

}  // namespace weft::core
