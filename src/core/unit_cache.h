// Free unit descriptors: per worker, in batches from and to a list that all share, and that from slabs.
#pragma once

#include "core/unit.h"

namespace weft::core {

class UnitCache {
 public:
  /// An unused descriptor, its fields as they were left; nullptr without memory.
  Unit* take() {
    Unit* unit = head_;
    if (unit == nullptr) [[unlikely]]
      return refill();
    head_ = unit->next;
    --count_;
    return unit;
  }

  void give(Unit& unit) {
    unit.next = head_;
    head_ = &unit;
    if (++count_ > 2 * batch) [[unlikely]]
      spill();
  }

 private:
  static constexpr unsigned batch = 4096;
  Unit* refill();
  void spill();

  Unit* head_ = nullptr;
  unsigned count_ = 0;
};

/// In a forked child.
void reset_shared_units();

}  // namespace weft::core
