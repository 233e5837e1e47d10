#include "core/unit_cache.h"

#include <cstdlib>
#include <new>

#include "core/spinlock.h"

namespace weft::core {
namespace {

// Batches of descriptors that workers have too many of: linked by Unit::next, the batches by Unit::face.
Spinlock lock;
Unit* batches = nullptr;

constexpr std::size_t slab_units = 512;  // 64 KiB

}  // namespace

Unit* UnitCache::refill() {
  {
    SpinGuard guard(lock);
    if (Unit* first = batches; first != nullptr) {
      batches = static_cast<Unit*>(first->face);
      first->face = nullptr;
      head_ = first->next;
      count_ = batch - 1;
      return first;
    }
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(Unit), slab_units * sizeof(Unit)) != 0) return nullptr;
  auto slab = static_cast<Unit*>(memory);
  for (std::size_t index = slab_units; index-- > 1;) {
    Unit* unit = new (&slab[index]) Unit;
    unit->next = head_;
    head_ = unit;
  }
  count_ = slab_units - 1;
  return new (&slab[0]) Unit;
}

void UnitCache::spill() {
  Unit* first = head_;
  Unit* last = first;
  for (unsigned index = 1; index < batch; ++index) last = last->next;
  head_ = last->next;
  last->next = nullptr;
  count_ -= batch;
  SpinGuard guard(lock);
  first->face = batches;
  batches = first;
}

void reset_shared_units() { lock.unlock(); }

}  // namespace weft::core
