#include "core/watchdog.h"

#include <cstdlib>
#include <ctime>

#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_switch.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/scheduler.h"
#include "core/technique/start.h"
#include "core/workers.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::core {

std::atomic<bool> watchdog_rests{false};
std::atomic<bool> watchdog_interrupts{true};

namespace {

enum State : std::uint32_t { not_started, resting, watching };
std::atomic<std::uint32_t> state{not_started};

constexpr long slowest_ns = 10L * 1000 * 1000;
constexpr long fastest_ns = 100L * 1000;
constexpr unsigned patience = 3;  // firings in a row before the looks become more frequent
constexpr unsigned looks_before_rest = 10;

constexpr unsigned most_watched = 2048;
std::uint64_t points_seen[most_watched];
std::uint64_t cpu_time_seen[most_watched];
unsigned long sleeps_seen[most_watched];
std::uint64_t last_look = 0;
std::uint64_t since_last_look = 0;

std::atomic<bool> enabled = false;
std::atomic<bool> forbidden = false;
std::atomic<unsigned> blocked_seen{0};

// Where it has interrupted the program last, in turn.
constexpr unsigned most_remembered = 64;
std::atomic<std::uint64_t> spun{0};
std::atomic<std::uintptr_t> spun_at[most_remembered];

bool units_wait() {
  return any_placed() || find_worker([](const Worker& worker) { return offers_work(worker); }) != nullptr;
}

// Since the last look.
std::uint64_t cpu_time_used(const Worker& worker, int klt) {
  const std::uint64_t used = os::klt_cpu_time(klt);
  const std::uint64_t since = used - cpu_time_seen[worker.index];
  cpu_time_seen[worker.index] = used;
  return since;
}

// Whether it sleeps between the looks, though it may be awake at each: a member that polls and sleeps in turn. With as
// many of them as there are CPUs, one or the other is always seen awake.
bool sleeps_in_between(const Worker& worker, int klt) {
  const unsigned long sleeps = os::klt_sleeps(klt);
  const bool more = sleeps != sleeps_seen[worker.index];
  sleeps_seen[worker.index] = sleeps;
  return more;
}

// The worker is stuck while units wait, `elsewhere_too` if some could run on another worker. True if
// something was done about it.
bool help(Worker& worker, bool elsewhere_too, unsigned& blocked) {
  const int klt = worker.klt.load(std::memory_order_relaxed);
  const bool interrupts = watchdog_interrupts.load(std::memory_order_relaxed);
  const std::uint64_t used = cpu_time_used(worker, klt);
  const bool computes = used >= static_cast<std::uint64_t>(fastest_ns) / 2;
  // What runs is not to be interrupted; and to see that it does costs less so than to read it in /proc.
  if (!interrupts && used >= since_last_look / 2) return false;
  const os::KltActivity activity = os::klt_activity(klt);
  if (activity == os::KltActivity::gone) return false;
  // No other KLT can stand in for a root that could go on, but for what it has lent its KLT to.
  const bool keeps_root = worker.lends_within.load(std::memory_order_relaxed) != nullptr &&
                          worker.root_unit.state.load(std::memory_order_relaxed) == UnitState::ready;
  const bool polls = !keeps_root && used < since_last_look / 2 && sleeps_in_between(worker, klt);
  if (activity == os::KltActivity::sleeps || polls) {
    if (!elsewhere_too || worker.parked.load(std::memory_order_relaxed) != 0) return false;
    return fewer_awake_than_wanted(++blocked) && wake_spare() != nullptr;
  }
  if (!interrupts) return false;
  // A root that lends its KLT to members that spin: what they wait for may lie elsewhere, where only
  // others may go.
  if (elsewhere_too && worker.lends_within.load(std::memory_order_relaxed) != nullptr && !some_unbound_awake() &&
      fewer_awake_than_wanted(++blocked))
    wake_spare();
  // One that has only just woken up may sleep again before the signal arrives, which would cut the
  // sleep short: what spins has used the CPU since the last look. But a root has no other way to come back.
  if (!computes && !keeps_root) return true;
  if (worker.interrupt_sent.exchange(true, std::memory_order_relaxed)) return true;
  os::refresh_code_not_to_leave();
  return os::interrupt(klt);
}

// True if some worker was stuck.
bool look(bool* any_active) {
  const std::uint64_t now = os::now_ns();
  since_last_look = now - last_look;
  last_look = now;
  const bool waiting = units_wait();
  bool fired = false;
  unsigned blocked = 0;
  for_each_worker([&](Worker& worker) {
    const unsigned index = worker.index;
    if (index >= most_watched || !worker.active.load(std::memory_order_relaxed)) return;
    *any_active = true;
    const std::uint64_t points = worker.scheduling_points.load(std::memory_order_relaxed);
    const bool stuck = points == points_seen[index];
    points_seen[index] = points;
    if (!stuck)
      cpu_time_seen[index] = os::klt_cpu_time(worker.klt.load(std::memory_order_relaxed));
    else if (waiting || has_local_work(worker))
      fired = help(worker, waiting, blocked) || fired;
  });
  blocked_seen.store(blocked, std::memory_order_relaxed);
  return fired;
}

std::atomic<std::uint32_t> hurry{0};

// What signal handlers want, who cannot make it.
void make_what_is_wanted() {
  make_wanted_identities();
  make_wanted_klts();
}

void sleep_for(long nanoseconds) {
  const std::uint64_t end = os::now_ns() + static_cast<std::uint64_t>(nanoseconds);
  do {
    os::futex_wait_until(hurry, 0, end);
    if (hurry.exchange(0, std::memory_order_relaxed) != 0) make_what_is_wanted();
  } while (os::now_ns() < end);
}

// A process whose main thread has ended by pthread_exit ends with its last thread, and with status 0.
// The KLTs of weft's must not keep it alive.
bool program_has_ended() {
  return runtime.main_has_ended.load(std::memory_order_relaxed) && runtime.roots.load(std::memory_order_relaxed) == 0 &&
         os::only_own_klts_left();
}

void* watch_workers(void*) {
  long interval = slowest_ns;
  unsigned fired_in_a_row = 0;
  unsigned idle_looks = 0;
  for (;;) {
    sleep_for(interval);
    make_what_is_wanted();
    bool any_active = tick_where_wanted();
    if (look(&any_active)) {
      if (++fired_in_a_row >= patience) interval = interval / 2 > fastest_ns ? interval / 2 : fastest_ns;
    } else if (fired_in_a_row > 0) {
      --fired_in_a_row;
    } else {
      interval = interval * 2 < slowest_ns ? interval * 2 : slowest_ns;
    }
    if (program_has_ended()) std::exit(EXIT_SUCCESS);
    idle_looks = any_active ? 0 : idle_looks + 1;
    if (idle_looks < looks_before_rest || runtime.main_has_ended.load(std::memory_order_relaxed)) continue;
    idle_looks = 0;
    state.store(resting, std::memory_order_relaxed);
    watchdog_rests.store(true, std::memory_order_release);
    while (state.load(std::memory_order_acquire) == resting) os::futex_wait(state, resting);
  }
}

}  // namespace

void give_way_to_watchdog() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (!identities_enabled) return;
  if (is_root(unit)) {
    step_aside();
    return;
  }
  // Of units that were created one by one, those that nobody wants to be interrupted, or to be moved.
  if (has_flag(unit, UnitFlag::free_standing) && kind_of(unit) != Preemption::signal_yield) return;
  if (runs_on_any_identity(unit)) return;  // in the midst of an access to storage that others use, perhaps
  // The code may be in the middle of a thread-local access: it must find the same storage again, and
  // nobody else may find it as it is now. So only with another identity at hand for the worker.
  if (details(unit).identity == nullptr && worker.spares == nullptr && !take_spare_in_handler(worker)) {
    want_identity();
    return;
  }
  leave_unit_to_scheduler(worker, unit, Event::yielded);
}

void note_spinning(std::uintptr_t instruction) {
  const std::uint64_t index = spun.fetch_add(1, std::memory_order_relaxed);
  spun_at[index % most_remembered].store(instruction, std::memory_order_relaxed);
}

WatchdogFindings watchdog_findings() {
  WatchdogFindings findings;
  findings.interrupted = spun.load(std::memory_order_relaxed);
  findings.of = findings.interrupted < most_remembered ? static_cast<unsigned>(findings.interrupted) : most_remembered;
  std::uintptr_t begins[most_remembered];
  os::CodeName names[most_remembered];
  for (unsigned index = 0; index < findings.of; ++index) {
    names[index] = os::name_of_code(spun_at[index].load(std::memory_order_relaxed));
    begins[index] = names[index].begin;
    unsigned same = 0;
    for (unsigned before = 0; before <= index; ++before) same += begins[before] == begins[index] ? 1 : 0;
    if (same <= findings.times) continue;
    findings.times = same;
    findings.function = names[index].function;
    findings.library = names[index].library;
  }
  return findings;
}

unsigned watchdog_counts_blocked() { return blocked_seen.load(std::memory_order_relaxed); }

void hurry_watchdog() {
  std::uint32_t rests = resting;
  if (state.compare_exchange_strong(rests, watching, std::memory_order_acq_rel)) {
    watchdog_rests.store(false, std::memory_order_relaxed);
    os::futex_wake(state, 1);
  }
  hurry.store(1, std::memory_order_relaxed);
  os::futex_wake(hurry, 1);
}

void wake_watchdog() {
  watchdog_rests.store(false, std::memory_order_relaxed);
  std::uint32_t before = state.load(std::memory_order_relaxed);
  if (before == watching || !state.compare_exchange_strong(before, watching, std::memory_order_acq_rel)) return;
  if (before == resting) {
    os::futex_wake(state, 1);
    return;
  }
  constexpr std::size_t stack_bytes = 64UL * 1024;
  const HeldOff held;
  // Without it everything works but what gets stuck; too few threads are told of elsewhere.
  os::start_klt(watch_workers, nullptr, stack_bytes, os::Signals::none);
}

void enable_watchdog(bool possible) {
  enabled = possible && !forbidden.load(std::memory_order_relaxed);
  watchdog_rests.store(enabled, std::memory_order_relaxed);
}

void disable_watchdog() {
  forbidden.store(true, std::memory_order_relaxed);
  enabled.store(false, std::memory_order_relaxed);
  watchdog_rests.store(false, std::memory_order_relaxed);
}

void reset_watchdog() {
  state.store(not_started, std::memory_order_relaxed);
  watchdog_rests.store(enabled, std::memory_order_relaxed);
}

}  // namespace weft::core
