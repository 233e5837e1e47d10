#include "core/stuck.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/panic.h"
#include "base/relaxed.h"
#include "core/active.h"
#include "core/find.h"
#include "core/hand.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/scheduler.h"
#include "core/slices.h"
#include "core/spares.h"
#include "core/technique/start.h"
#include "core/watchdog.h"
#include "core/watchdog_findings.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/code_not_to_leave.h"
#include "os/interrupt.h"
#include "os/klt.h"
#include "os/signal_mask.h"
#include "os/ticker.h"

namespace weft::core {
namespace {

constexpr std::uint64_t least_computed_ns = 50ULL * 1000;
// A root cannot go on before what sleeps on its KLT: after that long even a call is interrupted that returns EINTR.
constexpr std::uint64_t most_for_a_root_ns = 1000ULL * 1000 * 1000;
constexpr std::uint64_t longest_in_hand_ns = 20ULL * 1000 * 1000;
constexpr std::uint64_t longest_passed_over_ns = 100ULL * 1000 * 1000;  // the first time in a while,
constexpr std::uint64_t passed_over_lately_ns = 1000ULL * 1000 * 1000;  // which is so long
constexpr std::uint64_t between_visits_ns = 5ULL * 1000 * 1000;         // which cost a membarrier
constexpr unsigned quick_looks = 4;  // the first may find it on its way to what it is to run
constexpr unsigned most_in_vain = 5;

// What the last look has seen of each worker.
struct Seen {
  std::uint64_t points = 0;
  std::uint64_t since = 0;  // when it was first seen to have passed so many; or when something was done about it
  std::uint64_t comes_round_at = 0;  // when it was last seen to, or something was done about it
  std::uint64_t resumed = 0;         // units
  bool comes_round = false;          // it has resumed one since the last look
  std::size_t waiting_units = 0;     // in its own pools
  std::uint64_t share = 0;           // that it offers, and what is left of it
  std::uint64_t passed_over = 0;     // when it last was made to run something else though it passed scheduling points
  std::uint64_t asleep_since = 0;
  std::uint64_t cpu_time = 0;
  unsigned long sleeps = 0;
  bool counts_sleeps = false;     // since it has passed its last scheduling point
  int interrupted = 0;            // the KLT that was, last,
  std::uint64_t sent = 0;         // when,
  unsigned arrived = 0;           // how many had arrived by then on the worker,
  unsigned unanswered = 0;        // and how many have been sent since
  int asked = 0;                  // the KLT that was looked at for what signals it has blocked,
  std::uint64_t asked_at = 0;     // when,
  std::uint64_t others = 0;       // what it had blocked then of the signals below the real-time ones,
  std::optional<bool> refuses;    // and whether it had that which interrupts; nothing: not known
  bool changes_over = false;      // it was made to run another unit since the last look
  std::uint32_t taken = 0;        // numbers out of its outermost hand,
  std::uint64_t taken_since = 0;  // and since when so many
  std::uint64_t next_visit = 0;   // to its hands, not before
  unsigned quick_looks = 0;       // so many more at whether it sleeps already, as it may be about to
  bool said_it_sleeps = false;    // and if it is late, each of the others, too
  // Its KLT sleeps in the kernel, or cannot be interrupted where it is; for others to see.
  base::Relaxed<bool> blocked{false};
};
Seen seen[most_worker_slots];  // pages of it exist as far as there have been workers
unsigned seen_count = 0;       // so many have been looked at

std::atomic<unsigned> blocked_seen{0};

// What does not go as it should, each once.
void tell_of_proc() {
  static bool told = false;
  if (std::exchange(told, true)) return;
  base::warn("/proc does not tell what the threads of this process do: who waits is told by the CPU time they use");
}

void tell_of_signals(int error) {
  static bool told = false;
  if (error != EAGAIN || std::exchange(told, true)) return;
  base::warn("no further signal can be queued (ulimit -i): nothing is interrupted; kernel threads stand in");
}

void tell_of_handlers() {
  static bool told = false;
  if (std::exchange(told, true)) return;
  base::warn(
      "the program has handlers for all real-time signals (as Go does), or for weft's: what spins is not interrupted; "
      "kernel threads stand in");
}

}  // namespace

void tell_what_others_found() {
  static bool told_of_timers = false;
  const int refusal = os::Ticker::refusal();
  if (refusal == EAGAIN)
    tell_of_signals(refusal);
  else if (refusal != 0 && !std::exchange(told_of_timers, true))
    base::warn("the kernel refuses timers (timer_create: %s): units are preempted less often than they should be",
               strerror(refusal));
  static bool told_of_membarrier = false;
  if (os::membarrier_has_failed.load(std::memory_order_relaxed) && !std::exchange(told_of_membarrier, true))
    base::warn("the kernel refuses membarrier(2), which it has granted before: a wake-up may have been lost");
}

bool units_wait() {
  return any_placed() || find_worker([](const Worker& worker) { return offers_work(worker); }) != nullptr;
}

namespace {

// Since something was last done about it.
std::uint64_t cpu_time_used(Seen& before, int klt) {
  const std::uint64_t used = os::klt_cpu_time(klt);
  const std::uint64_t since = used - before.cpu_time;
  before.cpu_time = used;
  return since;
}

// Whether it sleeps between the looks, though it may be awake at each: a member that polls and sleeps in turn. With as
// many of them as there are CPUs, one or the other is always seen awake. Only what it slept since it is stuck counts.
// (Bug: a worker that had slept when there was nothing to do, and then did not get its CPU for a slice because other
// programs wanted it, was taken for one.)
enum class Slept : std::uint8_t { not_known, some, none };
Slept slept_in_between(Seen& before, int klt) {
  const std::optional<unsigned long> sleeps = os::klt_sleeps(klt);
  const bool counted = std::exchange(before.counts_sleeps, sleeps.has_value());
  if (!sleeps) return Slept::not_known;
  const bool more = std::exchange(before.sleeps, *sleeps) != *sleeps;
  if (!counted) return Slept::not_known;
  return more ? Slept::some : Slept::none;
}

// Of those for which others can stand in.
unsigned count_blocked() {
  return count_workers([](const Worker& worker) { return watchdog_sees_blocked(worker) && takes_from_others(worker); });
}

bool stand_in_for(Seen& before, std::uint64_t now) {
  before.blocked = true;
  if (!fewer_awake_than_wanted(count_blocked()) && some_run_what_waits(nullptr)) return false;
  const Worker* spare = get_spare();
  if (spare == nullptr) return false;
  Seen& of_spare = seen[spare->index];
  of_spare.points = spare->scheduling_points.load(std::memory_order_relaxed);
  of_spare.since = of_spare.asleep_since = now;
  of_spare.changes_over = true;
  of_spare.blocked = false;
  of_spare.quick_looks = quick_looks;
  note_stood_in();
  return true;
}

// A signal that is under way for so long does not arrive: the program has blocked all there are, in that thread. Unless
// that thread has had no CPU meanwhile.
constexpr std::uint64_t most_under_way_ns = 20ULL * 1000 * 1000;

// Whether the KLT has blocked the signal: then it would stay pending until a sigwait() of the program's, who waits for
// all that it has blocked, takes it for one of its own. The file that says so is read only if the other one shows a
// change, or some time has passed: it costs 15 us, as much as an interruption does without it. A signal may still be
// pending if the program blocks it within some microseconds before it arrives; or later, if it blocks none of the usual
// ones with it and somebody has looked a little before.
std::optional<bool> refuses_interrupts(Seen& before, int klt, std::uint64_t others_blocked, std::uint64_t now) {
  constexpr std::uint64_t good_for_ns = 10ULL * 1000 * 1000;
  if (klt == before.asked && others_blocked == before.others && now - before.asked_at < good_for_ns)
    return before.refuses;
  before.asked = klt;
  before.asked_at = now;
  before.others = others_blocked;
  return before.refuses = os::has_interrupt_blocked(klt);
}

// Where nobody tells whether the KLT has blocked the signal, a few are sent that nobody answers, and then no more: the
// kernel would keep each of them, and all users of the machine have the same room for them (RLIMIT_SIGPENDING).
bool may_be_sent(const Worker& worker, Seen& before, int klt, bool is_open) {
  constexpr unsigned most_unanswered = 4;
  const unsigned arrived = worker.interrupts.arrived.load(std::memory_order_relaxed);
  if (before.interrupted != klt || before.arrived != arrived) before.unanswered = 0;
  before.arrived = arrived;
  return is_open || before.unanswered < most_unanswered;
}

bool interrupt(Worker& worker, Seen& before, int klt, std::uint64_t others_blocked, bool had_cpu, std::uint64_t now) {
  const std::optional<bool> refuses = refuses_interrupts(before, klt, others_blocked, now);
  if (refuses.value_or(false) || !may_be_sent(worker, before, klt, refuses.has_value())) {
    worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  before.changes_over = true;
  const std::uint64_t ran_before = worker.interrupts.tries.load(std::memory_order_relaxed) != 0
                                       ? worker.interrupts.ran_ns.load(std::memory_order_relaxed)
                                       : 0;
  worker.interrupts.ran_ns.store(ran_before + now - before.since, std::memory_order_relaxed);
  // The one before may wait for a KLT that carries the worker no more.
  const bool under_way = worker.interrupts.sent.exchange(true, std::memory_order_relaxed);
  if (under_way && before.interrupted == klt) {
    if (!had_cpu || now - before.sent <= most_under_way_ns) return true;
    worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);  // and once more: it may have been lost
  }
  before.interrupted = klt;
  ++before.unanswered;
  before.sent = now;
  os::refresh_code_not_to_leave();
  // A root may be in its own code again.
  const bool active = worker.active.load(std::memory_order_relaxed);
  if (active && os::interrupt(klt)) return true;
  if (active) tell_of_signals(errno);  // EAGAIN, or the signal is in use no more
  worker.interrupts.sent.store(false, std::memory_order_relaxed);
  worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// What the worker has in hand is for others, who come to it no other way. False: it has nothing.
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

// Its outermost loop may stand still while what it has started passes scheduling points all the while: a member that
// opens regions of its own, again and again, until another one has done something. Or that takes long. True: so what is
// left in its hand is for others.
bool see_to_its_hand(Worker& worker, Seen& before, std::uint64_t now) {
  const std::uint32_t taken = worker.hands.taken.load(std::memory_order_relaxed);
  if (taken != before.taken || worker.hands.top.load(std::memory_order_relaxed) == nullptr) {
    before.taken = taken;
    before.taken_since = now;
    close_hand(worker);
    return false;
  }
  return now - before.taken_since >= longest_in_hand_ns && open_its_hand(worker, before, now);
}

// Whether something waits at the worker that has not been touched since the last look, by nobody. (What it has in hand
// is another matter, see above. Nor do numbers that it takes out of a hand show that it has come to what waits: that
// may be the hand of a region that a member of its polls by.)
bool is_left_alone(const Worker& worker, Seen& before) {
  const std::uint64_t resumed = worker.units_resumed.load(std::memory_order_relaxed);
  before.comes_round = std::exchange(before.resumed, resumed) != resumed;
  const std::size_t size = worker.deque.size() + worker.aside.size();
  const bool same = std::exchange(before.waiting_units, size) == size && !before.comes_round;
  const Share* share = offered_share(worker);
  const std::uint64_t left =
      share == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(share) ^ share->opening() ^ share->left();
  if (std::exchange(before.share, left) == left && share != nullptr) return true;
  return same && (size != 0 || has_work_beside_hand(worker) || keeps_opener_from_going_on(worker));
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

// What runs is not to be interrupted. Where ticks cannot be sent that should make it give way, another runs beside it.
bool run_beside(const Stuck& stuck) {
  return stuck.elsewhere_too && os::Ticker::refusal() == EAGAIN && runs_preemptive(stuck.worker) &&
         stand_in_for(stuck.before, stuck.now);
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

// The worker is stuck while units wait, `elsewhere_too` if some could run on another worker. True if
// something was done about it.
bool help(Worker& worker, Seen& before, bool elsewhere_too, std::uint64_t now) {
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
  if (activity == os::KltActivity::gone) return false;
  if (activity == os::KltActivity::not_known) {
    tell_of_proc();
    activity = computes ? os::KltActivity::runs : os::KltActivity::sleeps;
  }
  const bool asleep = activity == os::KltActivity::sleeps;
  if (!stuck.has_roots_klt && !computes) stuck.slept = slept_in_between(before, klt);
  const bool polls = stuck.slept == Slept::some;
  if (!asleep) before.asleep_since = now;
  return asleep || polls ? help_who_sleeps(stuck) : help_who_computes(stuck);
}

// A root, or what one has opened: it may be in its own code itself, or sleep in the kernel.
bool waits_elsewhere(const Worker& worker) {
  const std::uint32_t parked = worker.parked.load(std::memory_order_relaxed);
  return parked == Parked::for_its_turn || parked == Parked::for_work_within || offered_share(worker) != nullptr;
}

// What waits at a place, and no worker that runs takes from there. What a root has put aside is of its place.
bool some_place_is_left_alone() {
  for (unsigned index = 0; index < place_pools.count; ++index)
    if (const Pool& pool = *place_pools.pools[index]; !pool.looks_empty() && !some_run_at(pool, false)) return true;
  return find_worker([](const Worker& root) {
           const Pool* place = root.attended.load(std::memory_order_relaxed);
           return place != nullptr && !root.aside.looks_empty() && !some_run_at(*place, true);
         }) != nullptr;
}

// A root that has lent its KLT runs its own team's members alone, at its own place. They get on, if only by yielding to
// each other; but where nobody else runs (who is awake may sleep in the kernel), another root's do not, nor its own at
// other places, and that may be what these wait for. (Bugs: those who sleep were taken for ones that see to the rest;
// and those who attend other places.)
bool keeps_others_waiting(const Worker& worker, const Seen& before) {
  if (worker.lends_within.load(std::memory_order_relaxed) == nullptr) return false;
  if (!before.blocked && some_unbound_runs()) return some_place_is_left_alone();
  const bool others_wait = find_worker([&worker](const Worker& other) {
    return !other.aside.looks_empty() || (&other != &worker && waits_elsewhere(other));
  });
  return others_wait || any_placed_elsewhere(worker);
}

// It has passed scheduling points since the last look. `next_after`: one, at which it went on with another unit as it
// was made to; that one runs since then.
void note_that_it_gets_on(Worker& worker, Seen& before, bool next_after, bool passes_over, std::uint64_t now) {
  before.asleep_since = now;
  before.changes_over = false;
  if (!passes_over) {
    before.comes_round_at = now;
    before.counts_sleeps = false;
    worker.interrupts.in_vain.store(0, std::memory_order_relaxed);
    worker.interrupts.tries.store(0, std::memory_order_relaxed);
    worker.interrupts.sent.store(false, std::memory_order_relaxed);
  }
  if (next_after) return;
  before.since = now;
  before.cpu_time = os::klt_cpu_time(worker.klt.load(std::memory_order_relaxed));
}

// What waits for a worker, anywhere.
struct Waiting {
  bool some;
  bool left_alone;  // some of it has not been touched since the last look
};

Waiting look_for_what_waits() {
  bool left_alone = false;
  for_each_worker([&left_alone](const Worker& worker) {
    if (is_left_alone(worker, seen[worker.index])) left_alone = true;
  });
  return {units_wait(), left_alone};
}

// Whether a worker that passes scheduling points has kept others waiting for long: for longer than one that passes none
// may. That it computes by regions of its own is more likely than that it waits for something by these.
bool has_passed_over_for_long(const Seen& before, const void* group, std::uint64_t now) {
  const std::uint64_t ran_ns = now - before.comes_round_at;
  const bool lately = now - before.passed_over < passed_over_lately_ns;
  return lately ? slice_is_over(group, ran_ns / 2) : ran_ns >= longest_passed_over_ns;
}

// (Bug: of 64 members that all slept in the kernel, one began every 2 ms, in a program's first region every 10 ms.)
bool sleeps_already(const Worker& worker) {
  std::uint64_t blocked_signals = 0;
  return worker.parked.load(std::memory_order_relaxed) == Parked::awake &&
         os::klt_activity(worker.klt.load(std::memory_order_relaxed), &blocked_signals) == os::KltActivity::sleeps;
}

bool is_to_be_tried_again(const Worker& worker) { return worker.interrupts.tries.load(std::memory_order_relaxed) != 0; }

void forget(Worker& worker, Seen& before, std::uint64_t now) {
  before.blocked = before.changes_over = before.counts_sleeps = false;
  before.quick_looks = 0;
  before.said_it_sleeps = false;
  before.since = before.asleep_since = before.comes_round_at = now;
  close_hand(worker);
}

// What another KLT has told; it is looked at far more often than told.
bool take(std::atomic<bool>& told) {
  return told.load(std::memory_order_relaxed) && told.exchange(false, std::memory_order_relaxed);
}

void look_at(Worker& worker, Seen& before, const Waiting& waiting, std::uint64_t now) {
  if (!worker.active.load(std::memory_order_relaxed)) return forget(worker, before, now);
  const bool says_it_sleeps = take(worker.interrupts.sleep_begins);
  if (says_it_sleeps) before.quick_looks = quick_looks;
  const bool looks_quickly = before.quick_looks != 0;
  if (looks_quickly) --before.quick_looks;
  const bool others_take_its_hand = see_to_its_hand(worker, before, now);
  const void* group = worker.interrupts.stuck_group.load(std::memory_order_relaxed);
  if (take(worker.interrupts.spins)) note_spinner(group);
  const std::uint64_t points = worker.scheduling_points.load(std::memory_order_relaxed);
  const std::uint64_t passed = points - std::exchange(before.points, points);
  before.said_it_sleeps = says_it_sleeps || (before.said_it_sleeps && passed == 0);
  // What runs there starts units of its own, which it calls, again and again; perhaps until something has been done by
  // one of those that nobody comes to. (Bug: members that open regions until all the others have passed a barrier.)
  const bool passes_over = passed != 0 && waiting.left_alone && !before.comes_round;
  if (passed != 0 && (others_take_its_hand || (waiting.some && keeps_others_waiting(worker, before))))
    stand_in_for(before, now);
  else if (passed != 0 && !passes_over)
    before.blocked = false;
  if (passes_over && (is_to_be_tried_again(worker) || has_passed_over_for_long(before, group, now))) {
    if (help(worker, before, waiting.some, now)) note_stuck(group);
    before.since = before.comes_round_at = before.passed_over = now;
    return;
  }
  if (passed != 0) {
    const bool next_after = before.changes_over && passed == 1;
    note_that_it_gets_on(worker, before, next_after, passes_over, now);
    if (!next_after && !passes_over) note_going_on(group);
    if (!next_after) return;
  }
  const bool is_over = is_to_be_tried_again(worker) || slice_is_over(group, now - before.since);
  if (!is_over && !((looks_quickly || before.said_it_sleeps) && sleeps_already(worker))) return;
  const bool some_wait = waiting.some || has_local_work(worker) || keeps_opener_from_going_on(worker);
  if (!some_wait && !is_switched_off(worker)) {
    before.blocked = false;
    return;
  }
  if (help(worker, before, waiting.some, now) && some_wait && is_over) note_stuck(group);
  before.since = now;
}

}  // namespace

void look_at_workers(std::uint64_t now) {
  const Waiting waiting = look_for_what_waits();
  for_each_worker([&waiting, now](Worker& worker) {
    seen_count = std::max(seen_count, worker.index + 1);
    look_at(worker, seen[worker.index], waiting, now);
  });
  blocked_seen.store(count_blocked(), std::memory_order_relaxed);
  // A visitor may have opened another hand meanwhile than the one that it has come for.
  const bool some = find_worker([](const Worker& worker) { return offers_hand(worker, nullptr); }) != nullptr;
  runtime.hands_open.store(some, std::memory_order_relaxed);
}

bool is_to_look_quickly() {
  return find_worker([](const Worker& worker) { return seen[worker.index].quick_looks != 0; }) != nullptr;
}

bool watchdog_sees_blocked(const Worker& worker) { return seen[worker.index].blocked; }

unsigned watchdog_counts_blocked() { return blocked_seen.load(std::memory_order_relaxed); }

void forget_what_was_seen() {
  for (; seen_count != 0; --seen_count) seen[seen_count - 1].blocked = false;
  blocked_seen.store(0, std::memory_order_relaxed);
}

namespace {

// From the handler, over whatever code of the program's. A handler of the program's that ran while the root sleeps here
// might leave by siglongjmp(), as it may leave that code: but the root stands in a queue, and would stand in two the
// next time. So signals that have a handler wait until the root is back, as they do for a thread that has no CPU: that
// is when everything that is queued there has had its turn, for a slice at most each; or, where what sleeps before it
// needs a KLT and none is to be had, when that is over. The others end or stop the process as ever. Not where the
// program itself has called: who leaves a call that may wait does that at his own risk, and it would cost each such
// call some of the kernel's.
void step_aside_in_handler() {
  const os::SignalMask before = os::signals_blocked();
  os::set_signals(before | os::signals_with_handlers());
  os::begin_call_that_blocks(before);  // as far as the children of others are concerned
  step_aside();
  os::end_call_that_blocks();
  os::set_signals(before);
}

}  // namespace

void give_way_to_watchdog() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (!identities_enabled) return;
  if (is_root(unit)) {
    step_aside_in_handler();
    return;
  }
  // Of units that were created one by one, those that nobody wants to be interrupted, or to be moved.
  if (has_flag(unit, UnitFlag::free_standing) && kind_of(unit) != Preemption::signal_yield) return;
  if (runs_on_any_identity(unit)) return;  // in the midst of an access to storage that others use, perhaps
  // The code may be in the middle of a thread-local access: it must find the same storage again, and
  // nobody else may find it as it is now. So only with another identity at hand for the worker.
  if (details(unit).identity == nullptr && worker.identities.spares == nullptr && !take_spare_in_handler(worker)) {
    want_identity();
    worker.interrupts.in_vain.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  leave_unit_to_scheduler(worker, unit, Event::yielded);
}

}  // namespace weft::core
