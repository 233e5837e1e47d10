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
// Somebody may have relied on it while it was awake: a spare that rests, a root that has put itself into its inbox and
// stepped aside. So it looks when it is off, as a root does that goes (idle.cpp); a root that has seen it off looks
// itself (step_aside). (Bug: two roots that had stepped aside waited for a worker that was off.)
//
// A unit that comes to no scheduling point is interrupted, as the watchdog would, once for each time that somebody says
// how many shall be active, however short its slice was: if it can be left where it is, it becomes ready, and others
// take it. If not, the watchdog goes on with that at its looks, where it interrupts at all. (Bug: nobody was ever left
// so whose slice was not over, and the watchdog did not look where nobody waits.)
//
// What a handler may call here allocates nothing and takes no lock (use_cpus() is not for handlers: it starts KLTs). A
// packing that is freed waits until no handler looks at the list; a handler does not wait for anything.
#include "core/active.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "base/environment.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_pools.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/scheduler.h"
#include "core/watchdog.h"
#include "core/worker_klts.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/code_not_to_leave.h"
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

// How many workers there shall be at most, by somebody's word, when CPUs come; in the upper half how often somebody has
// said something.
std::atomic<std::uint64_t> asked{most_workers};
constexpr unsigned most_asked_for(std::uint64_t word) { return static_cast<unsigned>(word & UINT32_MAX); }
void note_asked(unsigned most) {
  std::uint64_t word = asked.load(std::memory_order_relaxed);
  while (!asked.compare_exchange_weak(word, ((word >> 32U) + 1) << 32U | most, std::memory_order_seq_cst)) {
  }
}

unsigned all_by_themselves() {
  const unsigned workers = runtime.workers;
  return runtime.config.workers != 0 ? workers : std::min(workers, runtime.cpus.get());
}

bool is_stopping(const Worker& worker) {
  return is_switched_off(worker) && worker.active.load(std::memory_order_relaxed) &&
         worker.parked.load(std::memory_order_relaxed) == Parked::awake;
}

// Whether, and why, a worker is to be switched off; one with a scheduler of its own never is.
struct Standing {
  unsigned rank;
  const Scheduler* scheduler;
  bool operator==(const Standing&) const = default;
  bool is_off(unsigned active) const { return rank != 0 && scheduler == nullptr && rank >= active; }
};

Standing standing_of(const Worker& worker) {
  return {worker.rank.load(std::memory_order_seq_cst), worker.own_scheduler.load(std::memory_order_seq_cst)};
}

// It may be given a scheduler meanwhile, and marks itself then: the last to write the mark has seen it. Or its slot may
// have changed hands, and be a root's by now: what that waits for stays as it is, and a mark that comes late is taken
// back. (Bug: what a root waited for was written over.)
void mark(Worker& worker, unsigned active) {
  Standing standing = standing_of(worker);
  for (Standing marked = standing;; marked = standing) {
    if (marked.is_off(active))
      worker.until_ready.replace(nullptr, &always_ready);
    else
      worker.until_ready.replace(&always_ready, nullptr);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    standing = standing_of(worker);
    if (standing == marked) return;
  }
}

void let_stop(Worker& worker) {
  if (wake(worker) || !preemption_works() || watchdog_is_disabled()) return;
  const int klt = worker.klt.load(std::memory_order_relaxed);
  if (klt == 0 || os::klt_activity(klt) != os::KltActivity::runs) return;
  if (!worker.interrupts.sent.exchange(true, std::memory_order_relaxed) && !os::interrupt(klt))
    worker.interrupts.sent.store(false, std::memory_order_relaxed);
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
  else if (value > 0)
    set_active_workers(std::min(wanted, runtime.workers.get()));
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
}

// Packings do, too; they do not follow the CPUs.
void do_as_asked(unsigned most, unsigned active) {
  note_asked(most);
  activate(active);
  pack(active);
}

// With places there are as many as places could be attended at the start.
void become_more(unsigned workers) {
  if (workers <= runtime.workers || runtime.config.places != 0) return;
  runtime.sleepers.fetch_add(static_cast<std::int32_t>(workers - runtime.workers), std::memory_order_seq_cst);
  runtime.workers = workers;
}

}  // namespace

// Until the number that it was marked by is the one that holds: somebody may have changed that meanwhile, and marked
// all others before.
void mark_again(Worker& worker) {
  for (unsigned marked = most_workers + 1;;) {
    const unsigned active = runtime.active.load(std::memory_order_seq_cst);
    if (active == marked) return;
    mark(worker, active);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    marked = active;
  }
}

bool is_switched_off(const Worker& worker) { return worker.until_ready == &always_ready; }

void set_active_workers(unsigned active) { do_as_asked(active < runtime.workers ? active : most_workers, active); }

void activate_all_workers() { do_as_asked(most_workers, all_by_themselves()); }

// A command may come in the midst, and what is done here may undo it. It changes `asked` before it acts; so who sees
// that as it was, after having acted, has undone nothing. Else it is as if the command had come before.
void use_cpus(unsigned cpus) {
  become_more(std::min(cpus, most_workers));
  const unsigned before = runtime.active.load(std::memory_order_relaxed);
  if (preemption_works()) os::refresh_code_not_to_leave();
  std::uint64_t word = 0;
  do {
    word = asked.load(std::memory_order_seq_cst);
    activate(std::min({cpus, runtime.workers.get(), most_asked_for(word)}));
  } while (asked.load(std::memory_order_seq_cst) != word);
  if (runtime.active.load(std::memory_order_relaxed) <= before || !something_waits()) return;
  // For those that have not been started yet. With places each has one of its own to attend.
  notify();
  while (place_pools.count != 0 && start_another_klt()) {
  }
}

void forget_active_workers() {
  note_asked(most_workers);
  lookers.store(0, std::memory_order_relaxed);
  runtime.active.store(all_by_themselves(), std::memory_order_relaxed);
}

ActiveWorkers count_active_workers() {
  ActiveWorkers count{runtime.workers, runtime.active.load(std::memory_order_relaxed), count_workers(is_stopping), 0};
  for (const auto& place : packings) count.packings += place.load(std::memory_order_relaxed) != nullptr ? 1 : 0;
  return count;
}

void set_rank(Worker& worker, unsigned rank) {
  worker.until_ready = nullptr;
  worker.rank.store(static_cast<std::uint16_t>(rank), std::memory_order_seq_cst);
  mark_again(worker);
}

void rest_while_off(Worker& worker) {
  leave_identities_to_others(worker);
  leave_klts_to_others(worker);
  worker.active.store(false, std::memory_order_relaxed);
  worker.parked.store(Parked::switched_off, std::memory_order_release);
  os::heavy_fence();
  if (!is_switched_off(worker) || worker.claims.ends.load(std::memory_order_relaxed))
    wake_switched_off(worker);
  else
    look_after_what_was_left();
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
    return base::read_one_of(value, {"on", "off", "yes", "no", "true", "false", "1", "0"}, word);
  });
  if (word % 2 == 0) os::install_control(obey);
}

}  // namespace weft::core
