#include "core/watchdog.h"

#include <algorithm>
#include <cstdlib>

#include "core/cpus.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_pools.h"
#include "core/lend.h"
#include "core/own_klt.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/refusal.h"
#include "core/scheduler.h"
#include "core/slices.h"
#include "core/spares.h"
#include "core/stuck.h"
#include "core/watchdog_tells.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/code_not_to_leave.h"
#include "os/futex.h"
#include "os/klt.h"
#include "os/stack_memory.h"
#include "os/ticker.h"

namespace weft::core {

std::atomic<bool> watchdog_rests{false};
std::atomic<bool> watchdog_interrupts{true};
std::atomic<int> watchdog_klt{0};

namespace {

enum State : std::uint32_t { not_started, resting, watching };
std::atomic<std::uint32_t> state{not_started};

constexpr std::uint64_t most_between_looks_ns = 10ULL * 1000 * 1000;  // for the timers' sake
constexpr std::uint64_t between_tries_ns = 50ULL * 1000;
// What sleeps in the kernel is seldom alone: whoever has been woken to stand in for it may sleep as soon. And what says
// that it goes to sleep is not there yet.
constexpr std::uint64_t between_quick_looks_ns = 100ULL * 1000;
constexpr unsigned looks_before_rest = 10;

std::atomic<bool> enabled = false;
std::atomic<bool> forbidden = false;
Refusal refusal_of_klt;  // of the watchdog's own

std::atomic<std::uint32_t> hurry{0};
std::atomic<bool> looks_again{false};

// What signal handlers want, who cannot make it.
void make_what_is_wanted() {
  make_wanted_identities();
  make_wanted_klts();
  make_wanted_spare();
}

void sleep_for(std::uint64_t nanoseconds) {
  std::uint64_t end = os::now_ns() + nanoseconds;
  do {
    os::futex_wait_until(hurry, 0, end);
    if (hurry.exchange(0, std::memory_order_acquire) == 0) continue;
    make_what_is_wanted();
    if (looks_again.exchange(false, std::memory_order_relaxed)) end = std::min(end, os::now_ns() + between_tries_ns);
  } while (os::now_ns() < end);
}

// A process whose main thread has ended by pthread_exit ends with its last thread, and with status 0.
// The KLTs of weft's must not keep it alive.
bool program_has_ended() {
  return runtime.main_has_ended.load(std::memory_order_relaxed) && runtime.roots.load(std::memory_order_relaxed) == 0 &&
         os::only_own_klts_left();
}

// What exit(3) runs is the program's, as is what it may expect of a thread: a stack of the usual size, and the signals
// that the program wants. Where no thread can be had, it ends here.
void begin_to_end() {
  const auto end = [](void*) -> void* { std::exit(EXIT_SUCCESS); };
  if (os::start_klt(end, nullptr, os::default_stack_size(), os::Signals::of_program) != 0) std::exit(EXIT_SUCCESS);
}

std::uint64_t time_to_next_look() {
  const std::uint64_t most = is_to_look_quickly() ? between_quick_looks_ns : most_between_looks_ns;
  const std::uint64_t next = std::min(next_look_ns(), most);
  return os::Ticker::refusal() == 0 ? next : std::min(next, preemption_settings.interval_ns.get());
}

void* watch_workers(void*) {
  watchdog_klt.store(os::this_klt(), std::memory_order_relaxed);
  os::sleep_exactly();
  unsigned idle_looks = 0;
  bool ends = false;
  for (;;) {
    sleep_for(time_to_next_look());
    make_what_is_wanted();
    tell_what_others_found();  // before something is done about it, after which the program may end
    const bool ticks = tick_where_wanted();
    if (ticks) os::refresh_code_not_to_leave();
    const std::uint64_t now = os::now_ns();
    look_at_workers(now);
    follow_cpus(now);
    adapt_slices(now);
    if (!ends && program_has_ended()) {
      ends = true;
      begin_to_end();
    }
    idle_looks = ticks || some_awake() ? 0 : idle_looks + 1;
    if (idle_looks < looks_before_rest || runtime.main_has_ended.load(std::memory_order_relaxed)) continue;
    idle_looks = 0;
    state.store(resting, std::memory_order_relaxed);
    watchdog_rests.store(true, std::memory_order_release);
    os::heavy_fence();  // who has become active, or was main and has ended, and has not seen that is seen here
    // What somebody stored who saw the watchdog still watching may have come behind.
    if (state.load(std::memory_order_relaxed) == resting) watchdog_rests.store(true, std::memory_order_relaxed);
    if (some_awake() || runtime.main_has_ended.load(std::memory_order_relaxed)) watch_again();
    while (state.load(std::memory_order_acquire) == resting) os::futex_wait(state, resting);
    watchdog_rests.store(false, std::memory_order_relaxed);
  }
}

}  // namespace

void hurry_watchdog() {
  std::uint32_t rests = resting;
  if (state.compare_exchange_strong(rests, watching, std::memory_order_acq_rel)) {
    watchdog_rests.store(false, std::memory_order_relaxed);
    os::futex_wake(state, 1);
  }
  hurry.store(1, std::memory_order_release);
  os::futex_wake(hurry, 1);
}

void look_again_soon() {
  looks_again.store(true, std::memory_order_relaxed);
  hurry_watchdog();
}

// Whoever polls, and sleeps in turn, says so once: then somebody stands in. That it is still seen to be blocked says as
// much only of what has slept before, if that was something else.
void going_to_sleep() {
  Worker* worker = this_worker();
  if (worker == nullptr || is_lent_from_here(*worker) || worker->current == nullptr) return;
  if (!worker->active.load(std::memory_order_relaxed)) return;
  const std::uint64_t points = worker->scheduling_points.load(std::memory_order_relaxed);
  if (points == worker->interrupts.points_at_sleep && watchdog_sees_blocked(*worker)) return;
  if (!has_local_work(*worker) && !units_wait()) return;
  worker->interrupts.points_at_sleep = points;
  worker->interrupts.sleep_begins.store(true, std::memory_order_relaxed);
  look_again_soon();
}

void watch_again() {
  if (state.load(std::memory_order_relaxed) == resting) wake_watchdog();
}

void wake_watchdog() {
  if (refusal_of_klt.is_recent()) return;
  watchdog_rests.store(false, std::memory_order_relaxed);
  os::light_fence();  // partners: the two that have just stored that it rests, or could not be started
  std::uint32_t before = state.load(std::memory_order_relaxed);
  if (before == watching || !state.compare_exchange_strong(before, watching, std::memory_order_acq_rel)) return;
  if (before == resting) {
    os::futex_wake(state, 1);
    return;
  }
  constexpr std::size_t stack_bytes = 64UL * 1024;
  const HeldOff held;
  if (start_own_klt(watch_workers, nullptr, stack_bytes, os::Signals::of_commands) == 0) return;
  // Without it everything works but what gets stuck; too few threads are told of elsewhere. Whoever asks for it later
  // tries again.
  refusal_of_klt.note();
  state.store(not_started, std::memory_order_relaxed);
  watchdog_rests.store(enabled, std::memory_order_relaxed);
  // As where it rests: somebody may have taken it for started, and what they stored come behind. From the fence on
  // whoever stores that finds it not started, and starts it, or says again that it was refused.
  os::heavy_fence();
  if (state.load(std::memory_order_relaxed) == not_started) watchdog_rests.store(enabled, std::memory_order_relaxed);
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

bool watchdog_is_disabled() { return forbidden.load(std::memory_order_relaxed); }

void reset_watchdog() {
  watchdog_klt.store(0, std::memory_order_relaxed);
  forget_what_was_seen();
  refusal_of_klt.forget();
  state.store(not_started, std::memory_order_relaxed);
  watchdog_rests.store(enabled, std::memory_order_relaxed);
}

}  // namespace weft::core
