#include "core/stuck_help.h"

#include <cerrno>
#include <optional>
#include <utility>

#include "core/find.h"
#include "core/hand.h"
#include "core/idle.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/spares.h"
#include "core/stuck.h"
#include "core/stuck_interrupt.h"
#include "core/watchdog.h"
#include "core/watchdog_findings.h"
#include "core/watchdog_tells.h"
#include "core/workers.h"
#include "os/interrupt.h"
#include "os/klt.h"
#include "os/ticker.h"

namespace weft::core {
namespace {

constexpr std::uint64_t least_computed_ns = 50ULL * 1000;
// A root cannot go on before what sleeps on its KLT: after that long even a call is interrupted that returns EINTR.
constexpr std::uint64_t most_for_a_root_ns = 1000ULL * 1000 * 1000;
constexpr std::uint64_t between_visits_ns = 5ULL * 1000 * 1000;  // which cost a membarrier
constexpr std::uint64_t most_ticks_late_ns = 20ULL * 1000 * 1000;
constexpr unsigned most_in_vain = 5;

}  // namespace

unsigned count_blocked() {
  return count_workers([](const Worker& worker) { return watchdog_sees_blocked(worker) && takes_from_others(worker); });
}

bool stand_in_for(Seen& before, std::uint64_t now) {
  before.blocked = true;
  if (!fewer_awake_than_wanted(count_blocked()) && some_run_what_waits(nullptr)) return false;
  const Worker* spare = get_spare();
  if (spare == nullptr) return false;
  Seen& of_spare = seen_of(*spare);
  of_spare.points = spare->scheduling_points.load(std::memory_order_relaxed);
  of_spare.since = of_spare.asleep_since = now;
  of_spare.changes_over = true;
  of_spare.blocked = false;
  of_spare.quick_looks = quick_looks;
  note_stood_in();
  return true;
}

bool open_its_hand(Worker& worker, Seen& before, std::uint64_t now) {
  if (worker.scheduler() != nullptr) return false;  // nobody comes there
  if (!offers_hand(worker, nullptr)) {
    if (now < before.next_visit) return false;
    before.next_visit = now + between_visits_ns;
    if (!open_hand(worker)) return false;
  }
  runtime.hands_open.store(true, std::memory_order_relaxed);
  notify();
  return true;
}

namespace {

// Since something was last done about it; by a KLT that has carried the worker since then.
std::uint64_t cpu_time_used(Seen& before, int klt) {
  const std::uint64_t used = os::klt_cpu_time(klt);
  const std::uint64_t used_before = std::exchange(before.cpu_time, used);
  return std::exchange(before.cpu_time_of, klt) == klt ? used - used_before : 0;
}

// Whether it sleeps between the looks, though it may be awake at each: a member that polls and sleeps in turn. With as
// many of them as there are CPUs, one or the other is always seen awake. Only what it slept since it is stuck counts.
// (Bug: a worker that had slept when there was nothing to do, and then did not get its CPU for a slice because other
// programs wanted it, was taken for one. And one that had gone on on another KLT and come back.)
enum class Slept : std::uint8_t { not_known, some, none };
Slept slept_in_between(Seen& before, const Worker& worker, int klt) {
  const unsigned changes = worker.klts.changes;
  const std::optional<unsigned long> sleeps = os::klt_sleeps(klt);
  const bool counted = std::exchange(before.sleeps_at, sleeps ? std::optional(changes) : std::nullopt) == changes;
  if (!sleeps) return Slept::not_known;
  const bool more = std::exchange(before.sleeps, *sleeps) != *sleeps;
  if (!counted) return Slept::not_known;
  return more ? Slept::some : Slept::none;
}

// A worker that is stuck, and what a look has found about it.
struct Stuck {
  Worker& worker;
  Seen& before;
  int klt;
  bool interrupts;                   // it may be interrupted
  bool elsewhere_too;                // some of what waits could run on another worker
  bool has_roots_klt;                // a root waits for that KLT, or an opener: no other can stand in for it
  std::uint64_t used;                // CPU time, since something was last done about it
  Slept slept = Slept::not_known;    // since the last look
  std::uint64_t others_blocked = 0;  // of the signals below the real-time ones
  std::uint64_t now;
};

bool open_hand_and_stand_in(const Stuck& stuck) {
  const bool opened = open_its_hand(stuck.worker, stuck.before, stuck.now);
  return (stuck.elsewhere_too || opened) && stand_in_for(stuck.before, stuck.now);
}

// Ticks do not come to it, though it has a CPU: another runtime in the process has had the root go on on another KLT,
// or runs something on this one on storage that is none of this worker's (core/roots.h). Its CPU time counts. (Bug:
// what passed on the clock did. With more busy KLTs than CPUs, each KLT was taken for one to which none come.)
bool misses_ticks(const Stuck& stuck) {
  const std::uint64_t most_ns = 2 * preemption_settings.interval_ns + most_ticks_late_ns;
  const Unticked seen{.klt = stuck.klt,
                      .ticks = stuck.worker.slice.ticks.load(std::memory_order_relaxed),
                      .points = stuck.before.points,
                      .cpu_time = stuck.before.cpu_time};
  Unticked& since = stuck.before.unticked;
  if (since.klt == seen.klt && since.ticks == seen.ticks && since.points == seen.points)
    return seen.cpu_time - since.cpu_time >= most_ns;
  since = seen;
  return false;
}

// What runs is not to be interrupted. Where ticks cannot be sent that should make it give way, or do not come to it,
// another runs beside it. (Bug: a member that spun on top of a unit, for what the next unit would do, spun for ever.)
bool run_beside(const Stuck& stuck) {
  if (!stuck.elsewhere_too || !runs_preemptive(stuck.worker)) {
    stuck.before.unticked = {};  // no ticks are due
    return false;
  }
  const bool misses = misses_ticks(stuck) || os::Ticker::refusal() == EAGAIN;
  return misses && stand_in_for(stuck.before, stuck.now);
}

// Its KLT sleeps in the kernel.
bool help_who_sleeps(const Stuck& stuck) {
  stuck.worker.interrupts.tries.store(0, std::memory_order_relaxed);
  if (stuck.worker.parked.load(std::memory_order_relaxed) != Parked::awake) return false;
  const bool stands_in = open_hand_and_stand_in(stuck);
  if (!stuck.interrupts || !stuck.has_roots_klt) return stands_in;
  const bool restartably = os::sleeps_restartably(stuck.klt);
  if (!restartably && stuck.now - stuck.before.asleep_since < most_for_a_root_ns) return stands_in;
  return interrupt(stuck.worker, stuck.before, stuck.klt, stuck.others_blocked, true, stuck.now) || stands_in;
}

bool help_who_computes(const Stuck& stuck) {
  if (!stuck.interrupts) return run_beside(stuck);
  const bool no_signal = os::interrupt_signal() == 0;
  if (no_signal) tell_of_handlers();
  const bool in_vain = no_signal || stuck.worker.interrupts.in_vain.load(std::memory_order_relaxed) >= most_in_vain;
  // A root that lends its KLT to members that spin: what they wait for may lie elsewhere, where only
  // others may go.
  const bool others_needed =
      stuck.worker.lends_within.load(std::memory_order_relaxed) != nullptr && !some_unbound_runs();
  if (in_vain || others_needed) open_hand_and_stand_in(stuck);
  // One that has only just woken up may sleep again before the signal arrives, which would cut the
  // sleep short: what spins has used the CPU since the last look; or, if others want that and it gives it away itself
  // (sched_yield), it has not slept since. But a root has no other way to come back.
  const bool had_cpu = stuck.used >= least_computed_ns;
  if (!had_cpu && stuck.slept != Slept::none && !stuck.has_roots_klt) return true;
  return interrupt(stuck.worker, stuck.before, stuck.klt, stuck.others_blocked, had_cpu, stuck.now);
}

// (Bug: where the KLT that was to go on had to wait for a CPU for longer than a slice, the other one, which slept, was
// taken for a worker that sleeps in the kernel.) A root on borrowed storage may be off its KLT altogether.
bool changes_klts(const Worker& worker) {
  return worker.klts.changes % 2 != 0 && !worker.root.borrowed.load(std::memory_order_relaxed);
}

}  // namespace

bool help_stuck(Worker& worker, Seen& before, bool elsewhere_too, std::uint64_t now) {
  const int klt = worker.klt.load(std::memory_order_relaxed);
  Stuck stuck{.worker = worker,
              .before = before,
              .klt = klt,
              .interrupts = watchdog_interrupts.load(std::memory_order_relaxed),
              .elsewhere_too = elsewhere_too,
              .has_roots_klt = keeps_root_from_going_on(worker),
              .used = cpu_time_used(before, klt),
              .now = now};
  const bool computes = stuck.used >= (now - before.since) / 2;
  before.blocked = false;
  // To see that it does costs less so than to read it in /proc.
  if (!stuck.interrupts && computes) return run_beside(stuck);
  os::KltActivity activity = os::klt_activity(klt, &stuck.others_blocked);
  if (changes_klts(worker) || worker.klt.load(std::memory_order_relaxed) != klt) return false;
  // A root may have moved to another one in the midst of a unit (core/roots.h).
  if (activity == os::KltActivity::gone)
    return worker.root.borrowed.load(std::memory_order_relaxed) && open_hand_and_stand_in(stuck);
  if (activity == os::KltActivity::not_known) {
    tell_of_proc();
    activity = computes ? os::KltActivity::runs : os::KltActivity::sleeps;
  }
  const bool asleep = activity == os::KltActivity::sleeps;
  if (!stuck.has_roots_klt && !computes) stuck.slept = slept_in_between(before, worker, klt);
  const bool polls = stuck.slept == Slept::some;
  if (!asleep) before.asleep_since = now;
  return asleep || polls ? help_who_sleeps(stuck) : help_who_computes(stuck);
}

}  // namespace weft::core
