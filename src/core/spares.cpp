#include "core/spares.h"

#include "core/find.h"
#include "core/idle.h"
#include "core/place_pools.h"
#include "core/refusal.h"
#include "core/watchdog.h"
#include "core/worker_klts.h"
#include "core/worker_slots.h"
#include "core/workers.h"
#include "os/futex.h"

namespace weft::core {
namespace {

std::atomic<unsigned> spares_made{0};
Refusal refusal_of_spares;
std::atomic<bool> spare_wanted{false};

}  // namespace

// Both stores under the lock: from the first on the worker may run, and end. So the second comes before its slot is
// left. (Bug: it came when a root had the slot, which counted as awake for as long as it lived.)
bool wake_resting_spare(Worker& worker) {
  {
    SpinGuard guard(slots_lock);
    std::uint32_t resting = Parked::spare_rests;
    if (!worker.parked.compare_exchange_strong(resting, Parked::awake)) return false;
    worker.active.store(true, std::memory_order_relaxed);  // counts from now on
  }
  os::futex_wake(worker.parked, 1);
  return true;
}

Worker* wake_resting_spare() {
  return find_worker([](Worker& worker) {
    return worker.parked.load(std::memory_order_relaxed) == Parked::spare_rests && wake_resting_spare(worker);
  });
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

Worker* get_spare() {
  if (Worker* resting = wake_resting_spare(); resting != nullptr) return resting;
  if (!count_spare()) return nullptr;
  Worker* worker = register_worker();
  if (worker == nullptr) {
    spares_made.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  worker->claims.spare = true;
  worker->life.store(Life::being_started, std::memory_order_relaxed);
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

void want_spare() {
  spare_wanted.store(true, std::memory_order_release);
  look_again_soon();
}

void make_wanted_spare() {
  if (spare_wanted.exchange(false, std::memory_order_acquire) && something_waits()) get_spare();
}

void count_out_spare(Worker& worker) {
  worker.claims.spare = false;
  spares_made.fetch_sub(1, std::memory_order_relaxed);
}

void reset_spares() {
  spares_made.store(0, std::memory_order_relaxed);
  refusal_of_spares.forget();
  spare_wanted.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
