#include "core/unit_cache.h"

#include <cstdlib>
#include <new>

#include "core/spinlock.h"

namespace weft::core {
namespace {

// Descriptors that workers have too many of, in batches: linked by Unit::next, the batches by Unit::face.
Spinlock lock;
Unit* batches = nullptr;

constexpr std::size_t slab_units = 512;  // 64 KiB

void share(Unit* first) {
  SpinGuard guard(lock);
  first->face = batches;
  batches = first;
}

Unit* take_shared() {
  SpinGuard guard(lock);
  Unit* first = batches;
  if (first != nullptr) {
    batches = static_cast<Unit*>(first->face);
    first->face = nullptr;
  }
  return first;
}

}  // namespace

bool UnitCache::make_array() {
  constexpr unsigned places = 4 * batch;
  free_ = static_cast<Unit**>(std::malloc(places * sizeof(Unit*)));
  room_ = free_ != nullptr ? places : 0;
  return free_ != nullptr;
}

bool UnitCache::refill() {
  if (free_ == nullptr && !make_array()) return false;
  for (Unit* unit = take_shared(); unit != nullptr; unit = unit->next) free_[count_++] = unit;
  if (count_ != 0) return true;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Unit), slab_units * sizeof(Unit)) != 0) return false;
  auto slab = static_cast<Unit*>(memory);
  for (std::size_t index = slab_units; index-- > 0;) free_[count_++] = new (&slab[index]) Unit;
  return true;
}

// False: there is no memory for the array, and the unit has gone to all.
bool UnitCache::make_room(Unit& unit) {
  if (free_ == nullptr) {
    if (make_array()) return true;
    unit.next = nullptr;
    share(&unit);
    return false;
  }
  Unit* first = nullptr;
  for (unsigned index = 0; index < batch; ++index) {
    free_[index]->next = first;
    first = free_[index];
  }
  for (unsigned index = batch; index < count_; ++index) free_[index - batch] = free_[index];
  count_ -= batch;
  share(first);
  return true;
}

void reset_shared_units() { lock.unlock(); }

}  // namespace weft::core
