// How a worker is switched off without a look on any path: its Worker::until_ready, which says what its scheduler waits
// for, is made to point to a unit that is always ready. A worker of weft's own waits for nothing otherwise, and every
// loop of the scheduler ends where that wait is over. It then sleeps in rest_while_off(), outside of the scheduler, and
// is neither a sleeper nor a searcher (idle.cpp): nobody wakes it for work. What lies in its deque and inbox is taken
// by others, as from any worker. Who is switched off while it sleeps for work is woken once, and goes there.
//
// Who decides. `Runtime::active` is the one truth; each worker's mark follows from it and from its rank. Several may
// change it at once, or a handler in the midst of another change: whoever has written marks looks at it again, and does
// it over if it has changed. So the last to write marks has written them by the last value. A worker that is being
// started sets its rank and then looks at `active`; who changes that looks at ranks afterwards. (All seq_cst.)
//
// No wake-up is lost: the mark is written before a heavy fence and a look at Worker::parked, on one side; on the other
// `parked` before a heavy fence and a look at the mark.
//
// A unit that comes to no scheduling point is interrupted, as the watchdog would, once for each time that somebody says
// how many shall be active: if it can be left where it is, it becomes ready, and others take it.
//
// Nothing here allocates or takes a lock. A packing that is freed waits until no handler looks at the list; a handler
// does not wait for anything.
#include "core/active.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "base/environment.h"
#include "core/idle.h"
#include "core/own_scheduler.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/scheduler.h"
#include "core/watchdog.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/control.h"
#include "os/futex.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::core {
namespace {

constinit Unit always_ready;  // once somebody has been switched off

constexpr unsigned most_packings = 64;  // that follow; later ones do not
std::atomic<Packing*> packings[most_packings];
std::atomic<unsigned> lookers{0};

// By somebody's word; that many stay off when CPUs come.
std::atomic<unsigned> most_asked_for{most_workers};

unsigned all_by_themselves() {
  const unsigned workers = runtime.workers;
  return runtime.config.workers != 0 ? workers : std::min(workers, runtime.cpus.get());
}

bool is_stopping(const Worker& worker) {
  return is_switched_off(worker) && worker.active.load(std::memory_order_relaxed) &&
         worker.parked.load(std::memory_order_relaxed) == Parked::awake;
}

void mark(Worker& worker, unsigned active) {
  const unsigned rank = worker.rank.load(std::memory_order_seq_cst);
  if (rank == 0 || worker.scheduler() != nullptr) return;
  worker.until_ready = rank >= active ? &always_ready : nullptr;
}

void let_stop(Worker& worker) {
  if (wake(worker) || !preemption_works()) return;
  const int klt = worker.klt.load(std::memory_order_relaxed);
  if (klt == 0 || os::klt_activity(klt) != os::KltActivity::runs) return;
  if (!worker.interrupt_sent.exchange(true, std::memory_order_relaxed)) os::interrupt(klt);
}

void pack(unsigned active) {
  lookers.fetch_add(1, std::memory_order_seq_cst);
  for (const auto& place : packings) {
    Packing* packing = place.load(std::memory_order_seq_cst);
    if (packing == nullptr) continue;
    const unsigned wanted = active < packing->total ? active : packing->total;
    if (packing->active.load(std::memory_order_relaxed) != wanted) set_active(*packing, wanted);
  }
  lookers.fetch_sub(1, std::memory_order_release);
}

// The value of the signal: so many workers; 0: all; anything else: none is changed.
void obey(int value, pid_t asker) {
  const auto wanted = static_cast<unsigned>(value);
  if (value == 0)
    activate_all_workers();
  else if (value > 0 && wanted > runtime.workers)
    set_active_workers(runtime.workers);
  else if (value > 0)
    set_active_workers(wanted);
  const ActiveWorkers count = count_active_workers();
  char text[128];
  const int length = snprintf(text, sizeof text, "workers=%u active=%u stopping=%u packings=%u\n", count.workers,
                              count.active, count.stopping, count.packings);
  os::answer_control(asker, text, static_cast<std::size_t>(length));
}

void activate(unsigned active) {
  always_ready.state.store(UnitState::ready, std::memory_order_relaxed);
  runtime.active.store(active, std::memory_order_seq_cst);
  do {
    active = runtime.active.load(std::memory_order_seq_cst);
    for_each_worker([active](Worker& worker) { mark(worker, active); });
    os::heavy_fence();
  } while (runtime.active.load(std::memory_order_seq_cst) != active);
  for_each_worker([](Worker& worker) {
    if (!is_switched_off(worker))
      wake_switched_off(worker);
    else if (worker.parked.load(std::memory_order_relaxed) != Parked::switched_off)
      let_stop(worker);
  });
  pack(active);
}

// With places there are as many as places could be attended at the start.
void become_more(unsigned workers) {
  if (workers <= runtime.workers || runtime.config.places != 0) return;
  runtime.sleepers.fetch_add(static_cast<std::int32_t>(workers - runtime.workers), std::memory_order_seq_cst);
  runtime.workers = workers;
}

}  // namespace

bool is_switched_off(const Worker& worker) { return worker.until_ready == &always_ready; }

void set_active_workers(unsigned active) {
  most_asked_for.store(active < runtime.workers ? active : most_workers, std::memory_order_relaxed);
  activate(active);
}

void activate_all_workers() {
  most_asked_for.store(most_workers, std::memory_order_relaxed);
  activate(all_by_themselves());
}

void use_cpus(unsigned cpus) {
  become_more(std::min(cpus, most_workers));
  const unsigned active = std::min({cpus, runtime.workers.get(), most_asked_for.load(std::memory_order_relaxed)});
  if (active == runtime.active.load(std::memory_order_relaxed)) return;
  if (preemption_works()) os::refresh_code_not_to_leave();
  activate(active);
  notify();  // there may be work for those that have not been started yet
}

void forget_active_workers() {
  most_asked_for.store(most_workers, std::memory_order_relaxed);
  runtime.active.store(all_by_themselves(), std::memory_order_relaxed);
}

ActiveWorkers count_active_workers() {
  ActiveWorkers count{runtime.workers, runtime.active.load(std::memory_order_relaxed), 0, 0};
  for_each_worker([&count](const Worker& worker) { count.stopping += is_stopping(worker) ? 1 : 0; });
  for (const auto& place : packings) count.packings += place.load(std::memory_order_relaxed) != nullptr ? 1 : 0;
  return count;
}

void set_rank(Worker& worker, unsigned rank) {
  worker.until_ready = nullptr;
  worker.rank.store(static_cast<std::uint16_t>(rank), std::memory_order_seq_cst);
  mark(worker, runtime.active.load(std::memory_order_seq_cst));
}

void rest_while_off(Worker& worker) {
  worker.active.store(false, std::memory_order_relaxed);
  worker.parked.store(Parked::switched_off, std::memory_order_release);
  os::heavy_fence();
  if (!is_switched_off(worker) || worker.ends.load(std::memory_order_relaxed)) wake_switched_off(worker);
  while (worker.parked.load(std::memory_order_acquire) == Parked::switched_off)
    os::futex_wait(worker.parked, Parked::switched_off);
  become_active(worker);
  tick_again(worker);
}

bool wake_switched_off(Worker& worker) {
  std::uint32_t parked = Parked::switched_off;
  if (!worker.parked.compare_exchange_strong(parked, Parked::awake, std::memory_order_acq_rel)) return false;
  os::futex_wake(worker.parked, 1);
  return true;
}

void note_packing(Packing& packing) {
  for (auto& place : packings) {
    Packing* none = nullptr;
    if (place.compare_exchange_strong(none, &packing, std::memory_order_seq_cst)) return;
  }
}

void forget_packing(const Packing& packing) {
  for (auto& place : packings)
    if (place.load(std::memory_order_relaxed) == &packing) place.store(nullptr, std::memory_order_seq_cst);
  while (lookers.load(std::memory_order_seq_cst) != 0) os::give_up_cpu();
}

void obey_commands() {
  int word = 0;
  base::read_variable("WEFT_CTL", "on or off", "on", [&word](base::ValueReader& value) {
    return base::read_one_of(value, {"on", "off"}, word);
  });
  if (word == 0) os::install_control(obey);
}

}  // namespace weft::core
