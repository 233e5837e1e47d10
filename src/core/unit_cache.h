// Free unit descriptors: per worker, in batches from and to a list that all share, and that from slabs.
//
// A worker keeps their addresses in an array, and not the descriptors in a list: to take the next one it need not wait
// for the memory of the last.
//
// Slabs are never given back, so anybody may look at all descriptors at any time, through members that are atomic
// (base::Relaxed too); which are in use follows from what they say themselves (has_not_ended). No unit is noted
// anywhere for that: creating, running and freeing them costs nothing more.
#pragma once

#include <atomic>
#include <cstddef>

#include "core/unit.h"

namespace weft::core {

extern std::atomic<Slab*> newest_slab;

/// All there are, in use or free, of units that were created one by one.
template <class Visit>
void for_each_descriptor(Visit visit) {
  // acquire: partner of whoever has made the slab.
  for (Slab* slab = newest_slab.load(std::memory_order_acquire); slab != nullptr; slab = slab->older)
    for (Unit& unit : slab->units) visit(unit);
}

/// Whether the descriptor is that of a unit that was created and is not done: one that is free was done, or never used.
/// `state` was read before.
inline bool has_not_ended(const Unit& unit, UnitState state) {
  return has_flag(unit, UnitFlag::free_standing) && state != UnitState::done;
}

class UnitCache {
 public:
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == room_; }

  /// An unused descriptor, its UnitDetails as new, the rest as it was left; nullptr without memory.
  Unit* take() {
    if (count_ == 0) [[unlikely]]
      if (!refill()) return nullptr;
    return take_present();
  }
  /// The same where it is not empty.
  Unit* take_present() { return free_[--count_]; }

  /// So many at once, from the array; nullptr: there are not so many in it. Good until the next call.
  Unit* const* take_present(std::size_t count) {
    if (count > count_) return nullptr;
    count_ -= static_cast<unsigned>(count);
    return &free_[count_];
  }

  void give(Unit& unit) {
    if (count_ == room_) [[unlikely]]
      if (!make_room(unit)) return;
    give_present(unit);
  }
  /// The same where it is not full.
  void give_present(Unit& unit) { free_[count_++] = &unit; }

  /// Where the next that is given will stand, and how many have room there. It is given by given().
  Unit** place() { return &free_[count_]; }
  unsigned room() const { return room_ - count_; }
  void given(Unit** end) { count_ = static_cast<unsigned>(end - free_); }

 private:
  static constexpr unsigned batch = 2048;
  bool make_array();
  bool refill();
  bool make_room(Unit& unit);
  Unit* next_of_list();
  void put_into_list(Unit& unit);

  Unit** free_ = nullptr;
  unsigned count_ = 0;
  unsigned room_ = 0;     // of `free_`, which comes with the first need
  Unit* list_ = nullptr;  // in place of the array, after make_units_slowly(),
  unsigned listed_ = 0;   // and how many have been put there and not been taken: with so many others go to all
};

/// Before the first unit: caches look empty and full from now on, so that each unit is created and freed by the way
/// that looks at everything. Where units have by default what only few have (core/preempt.h).
void make_units_slowly();

/// Whether there is memory for so many units at once, as far as the system tells before it is used: descriptors that
/// have been made for want of others stay.
bool may_have_memory_for_units(std::size_t count);

/// In a forked child.
void reset_shared_units();

}  // namespace weft::core
