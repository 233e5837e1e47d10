#include "core/place_pools.h"

#include <algorithm>
#include <cstdlib>

#include "base/panic.h"
#include "core/idle.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/worker_klts.h"
#include "core/workers.h"
#include "os/barrier.h"

namespace weft::core {

constinit PlacePools place_pools;

void make_place_pools() {
  const unsigned count = std::min(runtime.config.places, runtime.workers.get());
  if (count == 0) return;
  if (place_pools.pools == nullptr) place_pools.pools = static_cast<Pool**>(std::calloc(count, sizeof(Pool*)));
  if (place_pools.pools == nullptr) base::panic("no memory for %u pools", count);
  for (unsigned index = 0; index < count; ++index) {
    place_pools.pools[index] = Pool::create(Order::fifo, Access::mpmc);
    if (place_pools.pools[index] == nullptr) base::panic("no memory for a pool");
  }
  place_pools.count = count;
  place_pools.roots_aside.store(0, std::memory_order_relaxed);
  place_pools.open_for_good.store(false, std::memory_order_relaxed);
}

Pool* pool_to_attend(unsigned turn) {
  return place_pools.count != 0 ? place_pool(runtime.config.first_place % place_pools.count + turn) : nullptr;
}

namespace {

// Whoever attends a pool may be off: others take from it too.
bool some_are_off() { return runtime.active.load(std::memory_order_relaxed) != runtime.workers; }

bool are_open() { return place_pools.open_for_good.load(std::memory_order_relaxed) || some_are_off(); }

bool wake_attendant(const Pool& pool, const Share* scope) {
  return find_worker([&pool, scope](Worker& worker) {
           if (worker.attended.load(std::memory_order_acquire) != &pool) return false;
           const Share* lends = worker.lends_within.load(std::memory_order_relaxed);
           return (lends == nullptr || (scope != nullptr && scope->lies_within(lends))) && wake(worker);
         }) != nullptr;
}

bool some_have_never_begun() { return runtime.started.load(std::memory_order_relaxed) + 1 < runtime.workers; }

// All of them, since it is their turn that decides which pool they attend.
void start_all_klts() {
  while (start_another_klt()) {
  }
}

[[gnu::noinline]] void notify_place_slowly(const Pool& pool, const Share* scope) {
  std::atomic_thread_fence(std::memory_order_seq_cst);  // as in notify_slow()
  if (wake_attendant(pool, scope)) return;
  if (some_have_never_begun()) start_all_klts();
  // Where one could not be started it may be switched on by now: then somebody looks into all pools, or starts it.
  if (are_open() || some_have_never_begun()) notify_slow(scope);
}

}  // namespace

// Whoever goes to sleep looks into its pool after its heavy fence, and is woken for that pool whether or not
// others search: the argument at the head of idle.cpp, without its relay from searcher to searcher.
void notify_place(const Pool& pool, const Share* scope) {
  os::light_fence();
  if (runtime.sleepers.load(std::memory_order_relaxed) > 0) notify_place_slowly(pool, scope);
}

Unit* next_placed(Worker& worker) {
  Pool* pool = worker.attended.load(std::memory_order_relaxed);
  return pool != nullptr ? pool->pop() : nullptr;
}

bool takes_from_all(const Worker& worker) {
  return place_pools.count != 0 &&
         (worker.claims.spare || place_pools.roots_aside.load(std::memory_order_relaxed) != 0 || are_open());
}

namespace {

// A root that waits has only what lies within its wait from other pools; so only where nobody else might come to that.
// (Bugs: with two workers at two places, of which the second was refused, or had been switched off, the members at its
// place waited for ever.) Then what the root comes across besides goes aside, so that it finds the pools empty before
// it sleeps; and whoever may run that is told.
bool takes_elsewhere(const Worker& worker) {
  if (worker.lends_within.load(std::memory_order_relaxed) == nullptr) return takes_from_all(worker);
  return place_pools.count != 0 && are_open();
}

}  // namespace

// Begins with another pool each time: where units yield to each other a pool is never empty.
Unit* next_placed_elsewhere(Worker& worker) {
  if (!takes_elsewhere(worker)) return nullptr;
  const unsigned first = worker.turns.pools_begun_with++;
  for (unsigned index = 0; index < place_pools.count; ++index)
    if (Unit* unit = place_pool(first + index)->pop(); unit != nullptr) return unit;
  return nullptr;
}

namespace {

bool any_placed_but_in(const Pool* left_out) {
  for (unsigned index = 0; index < place_pools.count; ++index)
    if (place_pools.pools[index] != left_out && !place_pools.pools[index]->looks_empty()) return true;
  return false;
}

}  // namespace

bool any_placed() { return any_placed_but_in(nullptr); }

void start_those_who_attend() {
  if (some_have_never_begun() && any_placed()) start_all_klts();
}

bool any_placed_for_all() { return place_pools.count != 0 && are_open() && any_placed(); }

bool any_placed_elsewhere(const Worker& worker) {
  return any_placed_but_in(worker.attended.load(std::memory_order_relaxed));
}

bool any_placed(const Worker& worker) {
  const Pool* pool = worker.attended.load(std::memory_order_relaxed);
  if (pool != nullptr && !pool->looks_empty()) return true;
  return takes_elsewhere(worker) && any_placed();
}

void take_place_slowly(Worker& worker, Unit& unit) { runtime.hooks.take_place(worker, unit); }

}  // namespace weft::core
