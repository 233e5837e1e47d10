// Who may start and stop a worker's timer: anybody (os::Ticker takes turns). A tick that comes late, or to a worker
// that runs nothing preemptive any more, is harmless: the handler looks (preempt.cpp).
//
// With one timer for all, `leader` is the worker that has it. It changes by compare-exchange alone: the leader that
// finds itself asleep gives it to one that is awake, or to nobody; whoever wakes up takes it from nobody. A leader that
// leads no more may still tick once.
#include "core/preempt_timer.h"

#include <bit>

#include "base/panic.h"
#include "core/carrier.h"
#include "core/pool/pool.h"
#include "core/preempt.h"
#include "core/roots.h"
#include "core/segment.h"
#include "core/watchdog.h"
#include "core/workers.h"
#include "os/clock.h"
#include "os/code_not_to_leave.h"
#include "os/interrupt.h"

namespace weft::core {

std::atomic<bool> ticking{false};

namespace {

constexpr int nobody = -1;
std::atomic<int> leader{nobody};
Spinlock changing;  // mode and interval: of two callers at once, the one's. Nobody reads them under it

// How many ticks in a row that find nothing to preempt are put up with, also over sleeps: a unit that is not
// preemptive, on a worker that wakes up often, would be interrupted for ever.
constexpr unsigned some_idle_ticks = 16;
unsigned most_idle_ticks(const Worker& worker) { return worker.current == &worker.root.unit ? 1 : some_idle_ticks; }

bool one_timer() { return preemption_settings.mode >= TickMode::one_to_all; }
bool leads(const Worker& worker) { return leader.load(std::memory_order_relaxed) == static_cast<int>(worker.index); }

// Whether it is carried by a KLT that may be left in the midst of a unit, and sleeps then: with a timer that went on
// ticking, which would interrupt a CPU in vain, and the unit as soon as it is back.
bool ticks_once(const Worker& worker) { return worker.carrier.load(std::memory_order_relaxed) != nullptr; }

// Where its first tick falls (Shiina et al., Fig. 5a); for one that ticks once, after half a slice at least.
std::uint64_t first_tick(const Worker& worker) {
  const std::uint64_t interval = preemption_settings.interval_ns;
  const std::uint64_t now = os::now_ns();
  if (preemption_settings.mode != TickMode::aligned) return now + interval;
  const std::uint64_t phase = interval * (worker.index % runtime.workers) / runtime.workers;
  const std::uint64_t earliest = now - phase + (ticks_once(worker) ? interval / 2 : 0);
  return (earliest / interval + 1) * interval + phase;
}

void arm(Worker& worker) {
  Klt* const carrier = worker.carrier.load(std::memory_order_acquire);
  os::Ticker& ticker = carrier != nullptr ? carrier->ticker : worker.slice.ticker;
  ticker.start(first_tick(worker), carrier != nullptr ? 0 : preemption_settings.interval_ns.get());
}

void start(Worker& worker) {
  worker.slice.idle_ticks = 0;
  arm(worker);
}

bool is_awake(const Worker& worker) {
  return worker.use.load(std::memory_order_relaxed) != WorkerUse::none &&
         worker.parked.load(std::memory_order_relaxed) == Parked::awake;
}

bool runs_a_unit(const Worker& worker) {
  const Unit* unit = worker.current;
  return unit != nullptr && unit != &worker.root.unit && is_awake(worker);
}

// False: an earlier one has not arrived. Then it is sent ever more seldom: the KLT may have the signal blocked, for
// another root sleeps there (lend()), and would get as many at once when that goes on.
bool pass_on_to(Worker& worker) {
  constexpr unsigned most = 1024;  // a power of 2
  const unsigned unanswered = worker.slice.unanswered.load(std::memory_order_relaxed);
  worker.slice.unanswered.store(unanswered == most ? most / 2 + 1 : unanswered + 1, std::memory_order_relaxed);
  if (unanswered == 0 || std::has_single_bit(unanswered)) os::forward_tick(worker.klt.load(std::memory_order_relaxed));
  return unanswered == 0;
}

// False: there is none.
bool pass_on_to_all(const Worker& self) {
  bool some = false;
  for_each_worker([&self, &some](Worker& worker) {
    if (&worker == &self || !runs_preemptive(worker)) return;
    some = true;
    pass_on_to(worker);
  });
  return some;
}

// To the next after this one, and past those that it does not come to; the chain ends where it began. False: there is
// none.
bool pass_on_to_next(const Worker& self) {
  bool some = false;
  first_of_workers(self.index + 1, [&self, &some, ended = false](Worker& worker) mutable {
    ended = ended || &worker == &self || leads(worker);
    if (ended || !runs_preemptive(worker)) return ended;
    some = true;
    return pass_on_to(worker);
  });
  return some;
}

// The worker has the one timer, and no use for it: another shall have it that has.
void hand_over_lead(Worker& worker) {
  Worker* heir = find_worker([&worker](const Worker& other) { return &other != &worker && runs_preemptive(other); });
  int self = static_cast<int>(worker.index);
  ticker_of(worker).stop();
  if (!leader.compare_exchange_strong(self, heir != nullptr ? static_cast<int>(heir->index) : nobody)) return;
  if (heir != nullptr) start(*heir);
}

// Where the kernel has no timers, in their place: as often as they would, or as the watchdog looks.
bool ticks_by_itself() {
  if (os::Ticker::refusal() == 0) return false;
  static std::atomic<std::uint64_t> ticked_at{0};
  const std::uint64_t now = os::now_ns();
  std::uint64_t before = ticked_at.load(std::memory_order_relaxed);
  return now - before >= preemption_settings.interval_ns &&
         ticked_at.compare_exchange_strong(before, now, std::memory_order_relaxed);
}

}  // namespace

// Only units whose descriptors are never given back are looked at, unless all are preemptive.
bool runs_preemptive(const Worker& worker) {
  if (!runs_a_unit(worker)) return false;
  const Unit* unit = worker.current;
  if (unit == nullptr) return false;
  const Preemption by_default = preemption_settings.kind;
  if (by_default != Preemption::none) return true;
  const Preemption kind = kind_of(*unit);
  return kind == Preemption::signal_yield || kind == Preemption::klt_switch;
}

void start_ticking() {
  Worker& worker = worker_here();
  if (ticking.load(std::memory_order_relaxed)) {
    worker.slice.idle_ticks = 0;
    if (!ticker_of(worker).runs()) tick_again_slowly(worker);
    return;
  }
  if (!preemption_works()) return;
  static std::atomic<bool> told{false};
  if (os::allocator_lies_in_program() && !told.exchange(true, std::memory_order_relaxed))
    base::warn("malloc() is a part of the program, of which no code is preempted then");
  call_with_room([](void*) { os::refresh_code_not_to_leave(); }, nullptr);
  Pool::hold_off_custom();
  watch();
  ticking.store(true, std::memory_order_seq_cst);
  tick_where_wanted();
  worker.slice.idle_ticks = 0;
  tick_again_slowly(worker);
}

// (Bug: that a tick comes early, for what sleeps again, was left to the unit after that one.)
void tick_again_slowly(Worker& worker) {
  worker.slice.early = false;
  watch();
  if (worker.slice.idle_ticks >= some_idle_ticks) return;
  if (!one_timer()) {
    arm(worker);
    return;
  }
  int none = nobody;
  if (leads(worker) || leader.compare_exchange_strong(none, static_cast<int>(worker.index))) arm(worker);
}

// (Bug: 64 members that waited for one condition variable of the program's, of whom all but one slept again each time,
// took four times as long: each of them kept its worker for 1 ms.)
void tick_early(Worker& worker) {
  constexpr std::uint64_t soon_ns = 100ULL * 1000;
  if (!ticking.load(std::memory_order_relaxed)) return;
  worker.slice.early = !one_timer() && ticks_once(worker) && soon_ns < preemption_settings.interval_ns / 2;
  if (!worker.slice.early) return tick_again_slowly(worker);
  watch();
  worker.slice.idle_ticks = 0;
  worker.carrier.load(std::memory_order_relaxed)->ticker.start(os::now_ns() + soon_ns, 0);
}

namespace {

// Also that of a KLT that has lent its worker: whoever was about to start it may not have seen that. (Bug: it ticked on
// where the program had taken the signal, and its handler got that each time.)
void stop_timers() {
  for_each_worker([](Worker& worker) {
    worker.slice.ticker.stop();
    ticker_of(worker).stop();
  });
}

}  // namespace

void stop_ticking() {
  ticking.store(false, std::memory_order_relaxed);
  stop_timers();
}

namespace {

Worker* worker_that_leads(int index) {
  return index != nobody ? runtime.worker_at[index].load(std::memory_order_acquire) : nullptr;
}

// Not one whose tick is overdue: another root sleeps on its KLT, say, with the signal blocked (lend()).
bool can_lead(Worker& worker) {
  os::Ticker& ticker = ticker_of(worker);
  return is_awake(worker) && (ticker.is_under_way() || (runs_a_unit(worker) && !ticker.runs()));
}

// Some worker runs what is preemptive: the one timer shall tick. It goes to the next one that does, the leader last, so
// that each has its turn where several cannot be reached.
void renew_lead() {
  const int index = leader.load(std::memory_order_relaxed);
  Worker* leading = worker_that_leads(index);
  if (leading != nullptr && can_lead(*leading)) {
    start(*leading);
    return;
  }
  Worker* heir = first_of_workers(static_cast<unsigned>(index + 1),
                                  [](Worker& worker) { return runs_preemptive(worker) ? &worker : nullptr; });
  int before = index;
  if (heir == nullptr || !leader.compare_exchange_strong(before, static_cast<int>(heir->index))) return;
  if (leading != nullptr && leading != heir) ticker_of(*leading).stop();
  start(*heir);
}

}  // namespace

bool tick_where_wanted() {
  if (!ticking.load(std::memory_order_relaxed)) return false;
  if (!os::keep_interrupt()) {
    stop_ticking();
    return false;
  }
  bool some = false;
  bool any = false;
  const bool by_itself = ticks_by_itself();
  for_each_worker([&some, &any, by_itself](Worker& worker) {
    any = any || runs_a_unit(worker);
    if (!runs_preemptive(worker)) return;
    some = true;
    if (by_itself) pass_on_to(worker);
    if (!one_timer() && !ticker_of(worker).is_under_way()) start(worker);
  });
  if (!some || !one_timer()) return any;
  renew_lead();
  return any;
}

bool note_tick(Worker& worker, const os::Interruption& interruption, bool found_preemptive) {
  const bool own_timer = interruption.cause == os::Interruption::Cause::timer;
  const bool asleep = worker.parked.load(std::memory_order_relaxed) != Parked::awake;
  worker.slice.ticks.store(worker.slice.ticks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (own_timer)
    ticker_of(worker).has_ticked();
  else
    worker.slice.unanswered.store(0, std::memory_order_relaxed);
  if (!one_timer()) {
    if (found_preemptive) {
      worker.slice.idle_ticks = 0;
      return true;
    }
    if (++worker.slice.idle_ticks < most_idle_ticks(worker) && !asleep) return true;
    ticker_of(worker).stop();
    return false;
  }
  if (own_timer && !leads(worker)) {
    ticker_of(worker).stop();
    return false;
  }
  if (own_timer && asleep) {
    hand_over_lead(worker);
    return false;
  }
  const bool chain = preemption_settings.mode == TickMode::chain;
  const bool others = (chain && pass_on_to_next(worker)) || (!chain && own_timer && pass_on_to_all(worker));
  if (others && own_timer && !found_preemptive)
    hand_over_lead(worker);  // to one that it would not interrupt for the others' sake
  else if (others || found_preemptive)
    worker.slice.idle_ticks = 0;
  else if (own_timer && ++worker.slice.idle_ticks >= most_idle_ticks(worker))
    hand_over_lead(worker);
  return leads(worker);
}

bool stop_misplaced(const os::Interruption& interruption, Worker* here) {
  if (interruption.ticker == nullptr) return false;
  if (here != nullptr && interruption.ticker == &ticker_of(*here)) return false;
  interruption.ticker->stop();
  Worker* leading = worker_that_leads(leader.load(std::memory_order_relaxed));
  if (leading != nullptr && interruption.ticker == &ticker_of(*leading)) hand_over_lead(*leading);
  return true;
}

void tick_on(Worker& worker) {
  if (!ticker_of(worker).runs()) arm(worker);
}

void end_ticking(Worker& worker) {
  worker.slice.ticker.belong_to(0);
  if (leads(worker)) hand_over_lead(worker);
}

void change_ticking(TickMode mode, std::uint64_t interval_ns) {
  {
    SpinGuard guard(changing);
    preemption_settings.mode = mode;
    preemption_settings.interval_ns = interval_ns;
  }
  if (!ticking.load(std::memory_order_relaxed)) return;
  stop_timers();
  leader.store(nobody, std::memory_order_relaxed);
  tick_where_wanted();
  tick_again_slowly(worker_here());
}

void reset_ticking() {
  changing.unlock();
  ticking.store(false, std::memory_order_relaxed);
  leader.store(nobody, std::memory_order_relaxed);
}

}  // namespace weft::core
