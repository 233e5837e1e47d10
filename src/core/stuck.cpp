#include "core/stuck.h"

#include <algorithm>
#include <utility>

#include "core/active.h"
#include "core/find.h"
#include "core/hand.h"
#include "core/idle.h"
#include "core/place_pools.h"
#include "core/slices.h"
#include "core/stuck_help.h"
#include "core/stuck_seen.h"
#include "core/watchdog.h"
#include "core/workers.h"
#include "os/klt.h"

namespace weft::core {
namespace {

constexpr std::uint64_t longest_in_hand_ns = 20ULL * 1000 * 1000;
constexpr std::uint64_t longest_passed_over_ns = 100ULL * 1000 * 1000;  // the first time in a while,
constexpr std::uint64_t passed_over_lately_ns = 1000ULL * 1000 * 1000;  // which is so long

Seen seen[most_worker_slots];  // pages of it exist as far as there have been workers
unsigned seen_count = 0;       // so many have been looked at

std::atomic<unsigned> blocked_seen{0};

}  // namespace

Seen& seen_of(const Worker& worker) { return seen[worker.index]; }

bool units_wait() {
  return any_placed() || find_worker([](const Worker& worker) { return offers_work(worker); }) != nullptr;
}

namespace {

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
    before.sleeps_at.reset();
    worker.interrupts.in_vain.store(0, std::memory_order_relaxed);
    worker.interrupts.tries.store(0, std::memory_order_relaxed);
    worker.interrupts.sent.store(false, std::memory_order_relaxed);
  }
  if (next_after) return;
  before.since = now;
  before.cpu_time_of = worker.klt.load(std::memory_order_relaxed);
  before.cpu_time = os::klt_cpu_time(before.cpu_time_of);
}

// What waits for a worker, anywhere.
struct Waiting {
  bool some;
  bool left_alone;  // some of it has not been touched since the last look
};

Waiting look_for_what_waits() {
  bool left_alone = false;
  for_each_worker([&left_alone](const Worker& worker) {
    if (is_left_alone(worker, seen_of(worker))) left_alone = true;
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
  before.blocked = before.changes_over = false;
  before.sleeps_at.reset();
  before.quick_looks = 0;
  before.said_it_sleeps = false;
  before.unticked = {};
  before.since = before.asleep_since = before.comes_round_at = now;
  close_hand(worker);
}

// What another KLT has told; it is looked at far more often than told.
template <typename Value>
Value take(std::atomic<Value>& told) {
  return told.load(std::memory_order_relaxed) == Value{} ? Value{} : told.exchange({}, std::memory_order_relaxed);
}

void look_at(Worker& worker, Seen& before, const Waiting& waiting, std::uint64_t now) {
  if (!worker.active.load(std::memory_order_relaxed)) return forget(worker, before, now);
  const bool says_it_sleeps = take(worker.interrupts.sleep_begins);
  if (says_it_sleeps) before.quick_looks = quick_looks;
  const bool looks_quickly = before.quick_looks != 0;
  if (looks_quickly) --before.quick_looks;
  const bool others_take_its_hand = see_to_its_hand(worker, before, now);
  const void* group = worker.interrupts.stuck_group.load(std::memory_order_relaxed);
  note_doing(group, take(worker.interrupts.doing));
  if (take(worker.interrupts.takes_over)) before.changes_over = true;
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
    if (help_stuck(worker, before, waiting.some, now)) note_stuck(group);
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
    before.unticked = {};
    return;
  }
  if (help_stuck(worker, before, waiting.some, now) && some_wait && is_over) note_stuck(group);
  before.since = now;
}

}  // namespace

void look_at_workers(std::uint64_t now) {
  const Waiting waiting = look_for_what_waits();
  for_each_worker([&waiting, now](Worker& worker) {
    seen_count = std::max(seen_count, worker.index + 1);
    look_at(worker, seen_of(worker), waiting, now);
  });
  blocked_seen.store(count_blocked(), std::memory_order_relaxed);
  // A visitor may have opened another hand meanwhile than the one that it has come for.
  const bool some = find_worker([](const Worker& worker) { return offers_hand(worker, nullptr); }) != nullptr;
  runtime.hands_open.store(some, std::memory_order_relaxed);
}

bool is_to_look_quickly() {
  return find_worker([](const Worker& worker) { return seen_of(worker).quick_looks != 0; }) != nullptr;
}

bool watchdog_sees_blocked(const Worker& worker) { return seen_of(worker).blocked; }

unsigned watchdog_counts_blocked() { return blocked_seen.load(std::memory_order_relaxed); }

void forget_what_was_seen() {
  for (; seen_count != 0; --seen_count) seen[seen_count - 1].blocked = false;
  blocked_seen.store(0, std::memory_order_relaxed);
}

}  // namespace weft::core
