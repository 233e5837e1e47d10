#include "core/klt_pools.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/own_klt.h"
#include "core/preempt.h"
#include "core/scheduler.h"
#include "core/spinlock.h"
#include "core/watchdog.h"
#include "os/futex.h"

namespace weft::core {
namespace {

constexpr unsigned most_local = 8;

Spinlock global_lock;  // taken in handlers by try_lock() alone
Klt* global_pool = nullptr;
std::atomic<unsigned> free_klts{0};
std::atomic<unsigned> klts_made{0};
std::atomic<unsigned> klts_wanted{0};
std::atomic<bool> told{false};

void put_into_global(Klt& klt) {
  SpinGuard guard(global_lock);
  klt.next = global_pool;
  global_pool = &klt;
}

Klt* take_first(Klt*& list) {
  Klt* klt = list;
  if (klt == nullptr) return nullptr;
  list = klt->next;
  free_klts.fetch_sub(1, std::memory_order_relaxed);
  return klt;
}

// Not in a handler.
Klt* take_from_global() {
  SpinGuard guard(global_lock);
  return take_first(global_pool);
}

}  // namespace

void put_into_pool(Worker& worker, Klt& klt) {
  free_klts.fetch_add(1, std::memory_order_relaxed);
  if (preemption_settings.pools == KltPools::local && worker.klts.idle_count < most_local) {
    klt.next = worker.klts.idle;
    worker.klts.idle = &klt;
    ++worker.klts.idle_count;
  } else {
    put_into_global(klt);
  }
}

void put_new_into_pool(Klt& klt) {
  free_klts.fetch_add(1, std::memory_order_relaxed);
  put_into_global(klt);
}

Klt* take_from_pools(Worker& worker) {
  if (Klt* klt = take_first(worker.klts.idle); klt != nullptr) {
    --worker.klts.idle_count;
    return klt;
  }
  if (!global_lock.try_lock()) return nullptr;
  Klt* klt = take_first(global_pool);
  global_lock.unlock();
  return klt;
}

namespace {

// Counts one that is about to be made. False: there are as many as there may be.
bool count_klt() {
  unsigned made = klts_made.load(std::memory_order_relaxed);
  do {
    if (made >= preemption_settings.most_klts) return false;
  } while (!klts_made.compare_exchange_weak(made, made + 1, std::memory_order_relaxed));
  return true;
}

// Not in a handler. nullptr: none can be had.
Klt* make_klt() {
  if (!count_klt()) return nullptr;
  void* memory = std::malloc(sizeof(Klt));
  if (memory != nullptr) {
    auto klt = new (memory) Klt;
    if (start_own_lending_klt<begin_carrying>(klt, scheduler_stack_bytes, os::Signals::none) == 0) return klt;
  }
  klts_made.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
  if (memory != nullptr && !told.exchange(true, std::memory_order_relaxed))
    base::warn(
        "no further thread can be had (ulimit -u, pids.max, vm.max_map_count): units are preempted less often than "
        "they should be");
  return nullptr;
}

}  // namespace

Klt* get_klt(Worker& worker) {
  const HeldOff held;
  for (;;) {
    if (Klt* klt = take_from_pools(worker); klt != nullptr) return klt;
    if (Klt* klt = take_from_global(); klt != nullptr) return klt;  // another had it locked
    const Klt* const made = make_klt();
    if (made == nullptr) return take_from_global();
    // It comes into the global pool by itself, where another may be faster; and what is there meanwhile will do. (Bug:
    // it was not waited for where others had some in their own pools, and one more was made, and one more.)
    constexpr std::uint64_t a_while_ns = 200ULL * 1000;
    while (!made->begun.load(std::memory_order_acquire)) {
      os::nap(a_while_ns);
      if (Klt* klt = take_from_pools(worker); klt != nullptr) return klt;
    }
  }
}

void want_klt() {
  klts_wanted.fetch_add(1, std::memory_order_relaxed);
  hurry_watchdog();
}

void make_wanted_klts() {
  constexpr unsigned at_once = 64;
  unsigned wanted = klts_wanted.exchange(0, std::memory_order_relaxed);
  if (wanted > at_once) wanted = at_once;
  for (; wanted != 0; --wanted)
    if (make_klt() == nullptr) return;
}

KltCount count_klts() { return {klts_made.load(std::memory_order_relaxed), free_klts.load(std::memory_order_relaxed)}; }

void leave_klts_to_others(Worker& worker) {
  while (Klt* klt = worker.klts.idle) {
    worker.klts.idle = klt->next;
    put_into_global(*klt);
  }
  worker.klts.idle_count = 0;
}

void reset_klts() {
  global_lock.unlock();
  global_pool = nullptr;
  free_klts.store(0, std::memory_order_relaxed);
  klts_made.store(0, std::memory_order_relaxed);
  klts_wanted.store(0, std::memory_order_relaxed);
  told.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
