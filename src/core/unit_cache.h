// Free unit descriptors: per worker, in batches from and to a list that all share, and that from slabs.
//
// A worker keeps their addresses in an array, and not the descriptors in a list: to take the next one it need not wait
// for the memory of the last.
#pragma once

#include "core/unit.h"

namespace weft::core {

class UnitCache {
 public:
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == room_; }

  /// An unused descriptor, its first cache line as it was left; nullptr without memory.
  Unit* take() {
    if (count_ == 0) [[unlikely]]
      if (!refill()) return nullptr;
    return take_present();
  }
  /// The same where it is not empty.
  Unit* take_present() { return free_[--count_]; }

  void give(Unit& unit) {
    if (count_ == room_) [[unlikely]]
      if (!make_room(unit)) return;
    free_[count_++] = &unit;
  }

 private:
  static constexpr unsigned batch = 2048;
  bool make_array();
  bool refill();
  bool make_room(Unit& unit);

  Unit** free_ = nullptr;
  unsigned count_ = 0;
  unsigned room_ = 0;  // of `free_`, which comes with the first need
};

/// In a forked child.
void reset_shared_units();

}  // namespace weft::core
