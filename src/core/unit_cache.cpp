#include "core/unit_cache.h"

#include <cstdlib>
#include <new>

#include "core/spinlock.h"

namespace weft::core {

std::atomic<Slab*> newest_slab{nullptr};

namespace {

// Descriptors that workers have too many of, in batches: linked by Unit::next, the batches by Unit::argument.
Spinlock lock;
Unit* batches = nullptr;

void share(Unit* first) {
  SpinGuard guard(lock);
  first->argument = batches;
  batches = first;
}

Unit* take_shared() {
  SpinGuard guard(lock);
  Unit* first = batches;
  if (first != nullptr) {
    batches = static_cast<Unit*>(first->argument);
  }
  return first;
}

bool slowly = false;

// Memory for slabs comes in larger pieces, since each that is aligned like one costs another for its alignment.
Slab* piece = nullptr;
unsigned left_of_piece = 0;
std::size_t slabs_made = 0;

void* memory_for_slab() {
  constexpr unsigned slabs = 16;
  SpinGuard guard(lock);
  if (left_of_piece == 0) {
    void* memory = nullptr;
    if (posix_memalign(&memory, alignof(Slab), slabs * sizeof(Slab)) != 0) return nullptr;
    piece = static_cast<Slab*>(memory);
    left_of_piece = slabs;
  }
  --left_of_piece;
  ++slabs_made;
  return piece++;
}

std::size_t descriptors_made() {
  SpinGuard guard(lock);
  return slabs_made * Slab::count;
}

}  // namespace

// As if all that have been made were free.
bool may_have_memory_for_units(std::size_t count) {
  const std::size_t made = descriptors_made();
  if (count <= made) return true;
  void* volatile piece_for_all = std::malloc((count - made) / Slab::count * sizeof(Slab));
  const bool there_is = piece_for_all != nullptr;
  std::free(piece_for_all);
  return there_is;
}

bool UnitCache::make_array() {
  constexpr unsigned places = 4 * batch;
  free_ = static_cast<Unit**>(std::malloc(places * sizeof *free_));
  room_ = free_ != nullptr && !slowly ? places : 0;
  return free_ != nullptr;
}

// One at a time: the array has one place, which take() finds filled.
Unit* UnitCache::next_of_list() {
  if (list_ == nullptr) list_ = take_shared();
  Unit* unit = list_;
  if (unit != nullptr) list_ = unit->next;
  if (listed_ != 0) --listed_;
  return unit;
}

void UnitCache::put_into_list(Unit& unit) {
  unit.next = list_;
  list_ = &unit;
  if (++listed_ < batch) return;
  share(list_);
  list_ = nullptr;
  listed_ = 0;
}

bool UnitCache::refill() {
  if (free_ == nullptr && !make_array()) return false;
  if (slowly) {
    if (Unit* unit = next_of_list(); unit != nullptr) free_[count_++] = unit;
  } else {
    for (Unit* unit = take_shared(); unit != nullptr; unit = unit->next) free_[count_++] = unit;
  }
  if (count_ != 0) return true;
  void* memory = memory_for_slab();
  if (memory == nullptr) return false;
  auto slab = new (memory) Slab;
  for (std::size_t index = Slab::count; index-- > 0;) free_[count_++] = &slab->units[index];
  if (slowly)
    for (; count_ > 1; --count_) put_into_list(*free_[count_ - 1]);
  slab->older = newest_slab.load(std::memory_order_relaxed);
  while (!newest_slab.compare_exchange_weak(slab->older, slab, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return true;
}

// False: there is no memory for the array, and the unit has gone to all.
bool UnitCache::make_room(Unit& unit) {
  if (slowly) {
    put_into_list(unit);
    return false;
  }
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

void make_units_slowly() { slowly = true; }

namespace {

Slab* of_parent = nullptr;  // for tools that look for leaks

}  // namespace

// The parent's units are none of the child's. (Bug: it listed them.)
void reset_shared_units() {
  lock.unlock();
  batches = nullptr;
  Slab** oldest = &of_parent;
  while (*oldest != nullptr) oldest = &(*oldest)->older;
  *oldest = newest_slab.exchange(nullptr, std::memory_order_relaxed);
}

}  // namespace weft::core
