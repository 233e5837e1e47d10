#include "core/spares.h"

#include "core/idle.h"
#include "core/place_pools.h"
#include "core/refusal.h"
#include "core/worker_klts.h"
#include "core/worker_slots.h"
#include "core/workers.h"
#include "os/futex.h"

namespace weft::core {
namespace {

std::atomic<unsigned> spares_made{0};
Refusal refusal_of_spares;

}  // namespace

// Both stores under the lock: from the first on the worker may run, and end. So the second comes before its slot is
// left. (Bug: it came when a root had the slot, which counted as awake for as long as it lived.)
bool wake_spare(Worker& worker) {
  {
    SpinGuard guard(slots_lock);
    std::uint32_t resting = Parked::spare_rests;
    if (!worker.parked.compare_exchange_strong(resting, Parked::awake)) return false;
    worker.active.store(true, std::memory_order_relaxed);  // counts from now on
  }
  os::futex_wake(worker.parked, 1);
  return true;
}

namespace {

// Counts one that is about to be made. False: there are enough, or no thread could be had a moment ago.
bool count_spare() {
  constexpr unsigned most_spares = 512;
  if (refusal_of_spares.is_recent()) return false;
  unsigned made = spares_made.load(std::memory_order_relaxed);
  do {
    if (made >= most_spares) return false;
  } while (!spares_made.compare_exchange_weak(made, made + 1, std::memory_order_relaxed));
  return true;
}

}  // namespace

Worker* wake_spare() {
  Worker* resting = find_worker([](Worker& worker) {
    return worker.parked.load(std::memory_order_relaxed) == Parked::spare_rests && wake_spare(worker);
  });
  if (resting != nullptr) return resting;
  if (!count_spare()) return nullptr;
  Worker* worker = register_worker();
  if (worker == nullptr) {
    spares_made.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  worker->claims.spare = true;
  worker->life.store(1, std::memory_order_relaxed);
  worker->active.store(true, std::memory_order_relaxed);
  runtime.searchers.fetch_add(1, std::memory_order_relaxed);
  if (start_carrying(*worker, WorkerUse::of_weft) == 0) return worker;
  refusal_of_spares.note();
  open_place_pools();
  worker->active.store(false, std::memory_order_relaxed);
  count_out_spare(*worker);
  leave_slot(*worker);
  end_counted_search();
  return nullptr;
}

void count_out_spare(Worker& worker) {
  worker.claims.spare = false;
  spares_made.fetch_sub(1, std::memory_order_relaxed);
}

void reset_spares() {
  spares_made.store(0, std::memory_order_relaxed);
  refusal_of_spares.forget();
}

}  // namespace weft::core
