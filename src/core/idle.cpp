// How a worker that finds nothing sleeps, and who wakes it. Work wakes at most one sleeper at a time; one
// that finds work and was the last to search wakes the next, so that a burst of work wakes the workers as
// a chain.
//
// No wake-up is lost. Let P publish work, let S go to sleep.
//   P: publish work;            light fence; read sleepers; if > 0, read searchers; if 0, wake one.
//   S: sleepers += 1; parked=1; searchers -= 1; heavy fence; look for work everywhere; sleep.
// Before the heavy fence P's publication may sit in a store buffer; after it, either P's loads come
// after S's announcement (then P sees a sleeper, and no searcher but real ones), or P's publication
// came before, and S's last look finds it. A searcher that P relied on goes through the same steps
// before it sleeps. The light fence costs P nothing; the heavy one (membarrier) costs S, who has
// nothing to do anyway. A root's own continuation is published by its state, and S looks at that too.
//
// A searcher that stops without going to sleep has no heavy fence (found, end). It may be the one that P has relied on,
// so there both fence, where somebody sleeps:
//   P: publish work;   fence (notify_slow);   read searchers.
//   S: searchers -= 1; read sleepers; if > 0, fence; look for work everywhere.
// If P has read the count as it was before, S's look finds P's work, and S wakes somebody for it. If S reads sleepers
// as 0, whoever goes to sleep later looks for itself.
//
// A root that may run only what lies within a share sleeps in the same way, but P wakes it only for
// such work (P goes through the sleepers), and P does not rely on its search. While it sleeps and there
// is work that it may not touch, its CPU would be idle: then a spare worker stands in, which rests again
// when the root has come back.
//
// A spare worker that goes to rest although something waits leaves that to those who are awake. One of them may be a
// root in its own region, which does not come to it but goes: so whoever goes looks.
//   S, a spare: parked=rests; left_to_awake=1; heavy fence; look for work, and who is awake; sleep.
//   R, a root:  active=0; light fence; read left_to_awake; if 1, set 0, and look for work;
//               if there is any: left_to_awake=1; heavy fence; look who is awake; if too few, wake a spare.
// Either S sees that R is not awake, or R reads 1; the same for two roots that go at once, of which one reads the 0 of
// the other. What was there before S's store R sees after its exchange. (Bug: roots that had stepped aside slept for
// ever.) tests/models/left_to_awake.pml is a model of this.
//
// Who is awake may sleep in the kernel, of which nothing here tells. Where somebody must run what a root leaves, or may
// not run itself (stand_in, some_unbound_runs), those that the watchdog has seen asleep do not count. That is a hint,
// as old as its last look: who relies on one that has fallen asleep since is helped at the next, when the one that
// sleeps is stood in for. No wake-up depends on it.
//
// A worker with a scheduler of its own has only the pools of that. Awake or asleep, it does not count where others are
// to come to what waits, nor does anybody stand in for it. When it is given one, it looks as a root does that goes.
// (Bug: one that looked for units of its own all the time kept the watchdog from waking a spare for the only other one,
// which slept in the kernel.)
//
// A spare that is one too many stays all the same while something waits that none of the others comes to. Two that each
// see the other run may both rest; then the watchdog wakes one at its next look.
//
// Rejected: an eventcount or a semaphore per pool. Both put a read-modify-write on the publisher's
// path, and a program that runs many short parallel regions publishes all the time.
#include "core/idle.h"

#include "core/active.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/klt_pools.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/preempt_timer.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/spares.h"
#include "core/stuck.h"
#include "core/watchdog.h"
#include "core/worker_klts.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/klt.h"

namespace weft::core {

std::atomic<bool> left_to_awake{false};

namespace {

bool is_awake(const Worker& worker) {
  return worker.active.load(std::memory_order_relaxed) &&
         worker.parked.load(std::memory_order_relaxed) == Parked::awake &&
         worker.use.load(std::memory_order_relaxed) != WorkerUse::none;  // a spare that was woken as it ended
}

// For what waits. As far as is known: one that is awake may sleep in the kernel.
bool runs(const Worker& worker) {
  return is_awake(worker) && takes_from_others(worker) && !watchdog_sees_blocked(worker);
}

// Carried by the KLT of a thread of the program's, which may run less than others.
bool is_of_root(const Worker& worker) { return worker.use.load(std::memory_order_relaxed) == WorkerUse::root; }

unsigned active_workers() { return runtime.active.load(std::memory_order_relaxed); }

unsigned count_awake_for_others() {
  return count_workers([](const Worker& worker) { return is_awake(worker) && takes_from_others(worker); });
}

bool wake_from(Worker& worker, std::uint32_t parked) {
  if (!worker.parked.compare_exchange_strong(parked, Parked::awake, std::memory_order_acq_rel)) return false;
  // On the sleeper's behalf: it is a searcher from now on, although it still has to wake up.
  if (parked == Parked::for_any_work) runtime.searchers.fetch_add(1, std::memory_order_relaxed);
  // release: who reads the lower count, and then the searchers behind a fence (notify_slow), reads the higher one
  // there.
  runtime.sleepers.fetch_sub(1, std::memory_order_release);
  os::futex_wake(worker.parked, 1);
  return true;
}

bool wake_one_for_any_work() {
  return find_worker([](Worker& worker) {
           return worker.parked.load(std::memory_order_relaxed) == Parked::for_any_work &&
                  wake_from(worker, Parked::for_any_work);
         }) != nullptr;
}

// Wakes a root that sleeps and may run the new work, which belongs to `scope`; nullptr: see what there is.
bool wake_root_for(const Share* scope, bool& some_sleep) {
  return find_worker([scope, &some_sleep](Worker& worker) {
           if (worker.parked.load(std::memory_order_acquire) != Parked::for_work_within) return false;
           some_sleep = true;
           const Share* lends = worker.lends_within.load(std::memory_order_relaxed);
           const bool suits = scope != nullptr ? scope->lies_within(lends) : any_work(worker);
           return suits && wake_from(worker, Parked::for_work_within);
         }) != nullptr;
}

}  // namespace

bool wake(Worker& worker) {
  const std::uint32_t parked = worker.parked.load(std::memory_order_relaxed);
  const bool sleeps =
      parked == Parked::for_any_work || parked == Parked::for_work_within || parked == Parked::for_its_pools;
  return sleeps && wake_from(worker, parked);
}

void notify_slow(const Share* scope, bool in_handler) {
  // There are sleepers, so the work may rest on another searcher. Partner: wake_for_what_came_meanwhile().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (runtime.searchers.load(std::memory_order_relaxed) > 0) return;
  bool some_root_sleeps = false;
  if (wake_one_for_any_work() || (!in_handler && start_another_klt()) || wake_root_for(scope, some_root_sleeps)) return;
  if (some_root_sleeps && !in_handler && fewer_awake_than_wanted(watchdog_counts_blocked())) get_spare();
}

bool spinning_pays(const Worker& worker, std::uint64_t now) {
  return !worker.courtesy.on(now) && count_workers(is_awake) <= runtime.cpus;
}

// ---------------------------------------------------------------- searching and sleeping

namespace {

// After a search that did not end in sleep: something published meanwhile may have relied on it.
void wake_for_what_came_meanwhile() {
  if (runtime.sleepers.load(std::memory_order_relaxed) <= 0) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // partner: notify_slow()
  if (any_work() || any_placed_for_all()) notify_slow(nullptr);
}

}  // namespace

void end_counted_search() {
  runtime.searchers.fetch_sub(1, std::memory_order_seq_cst);
  wake_for_what_came_meanwhile();
}

void Searching::adopt() {
  on_ = true;
  worker_.searches.store(true, std::memory_order_relaxed);
  const std::uint64_t now = os::now_ns();
  rounds_ = 0;
  patience_ = spinning_pays(worker_, now) ? runtime.spin_ns.load(std::memory_order_relaxed) : 0;
  worker_.courtesy.begins_to_spin(now);
}

void Searching::begin() {
  counted_ = is_counted();
  if (counted_) runtime.searchers.fetch_add(1, std::memory_order_relaxed);
  adopt();
}

void Searching::found() {
  if (!on_) return;
  on_ = false;
  worker_.searches.store(false, std::memory_order_relaxed);
  // Not only 1: a waker takes a sleeper out first and counts it as a searcher afterwards.
  if (counted_ && runtime.searchers.fetch_sub(1, std::memory_order_seq_cst) <= 1) wake_for_what_came_meanwhile();
}

void Searching::end() {
  if (!on_) return;
  on_ = false;
  worker_.searches.store(false, std::memory_order_relaxed);
  if (counted_) end_counted_search();
}

bool Searching::exhausted() {
  if (patience_ == 0) return true;
  // The longer it lasts, the fewer the looks: a search is hundreds of instructions, and the CPU next door may
  // be the same core.
  constexpr unsigned most_pauses = 64;
  const bool seldom = worker_.restraint.on() || rounds_ / 16 >= most_pauses;
  const unsigned pauses = seldom ? most_pauses : rounds_ / 16 + 1;
  for (unsigned pause = 0; pause < pauses; ++pause) arch::relax();
  if (++rounds_ % 16 != 0) return false;
  const std::uint64_t now = os::now_ns();
  return others_want_cpu(now) || worker_.courtesy.spun() > patience_;
}

// While the CPU is offered nobody shall rely on this search, which may go on only milliseconds later. (Who has relied
// on it just before waits for that long, if others want the CPU.)
bool Searching::others_want_cpu(std::uint64_t now) {
  return worker_.courtesy.others_want_cpu(
      os::now_ns, now,
      [this] {
        if (counted_) runtime.searchers.fetch_sub(1, std::memory_order_relaxed);
        os::give_up_cpu();
        if (counted_) runtime.searchers.fetch_add(1, std::memory_order_relaxed);
      },
      os::is_of_low_priority);
}

void Searching::sleep() {
  Worker& worker = worker_;
  worker.courtesy.sleeps();
  leave_identities_to_others(worker);
  const std::uint32_t parked = counted_                        ? Parked::for_any_work
                               : worker.scheduler() != nullptr ? Parked::for_its_pools
                                                               : Parked::for_work_within;
  // Before it can be woken, and counted out: else there would be one too few for a moment, and who publishes something
  // would wake none of those that sleep.
  runtime.sleepers.fetch_add(1, std::memory_order_seq_cst);
  worker.parked.store(parked, std::memory_order_release);
  if (counted_) runtime.searchers.fetch_sub(1, std::memory_order_seq_cst);
  const bool was_active = worker.active.load(std::memory_order_relaxed);
  if (!is_of_root(worker)) worker.active.store(false, std::memory_order_relaxed);
  os::heavy_fence();
  std::uint32_t still = parked;
  const bool work =
      worker.scheduler() != nullptr ? worker.scheduler()->has_work() || has_local_work(worker) : any_work(worker);
  if (work) {
    worker.appetite.end_pause();
    worker.help_pause.end();
  }
  if ((work || worker.claims.ends.load(std::memory_order_relaxed) || is_over(worker)) &&
      worker.parked.compare_exchange_strong(still, Parked::awake, std::memory_order_acq_rel)) {
    if (counted_) runtime.searchers.fetch_add(1, std::memory_order_relaxed);
    runtime.sleepers.fetch_sub(1, std::memory_order_relaxed);
  } else {
    ++worker.counters.sleeps;
    if (parked == Parked::for_work_within && any_work()) notify_slow(nullptr);  // for others: they may need this CPU
    if (parked != Parked::for_its_pools) start_those_who_attend();
    while (worker.parked.load(std::memory_order_acquire) == parked) os::futex_wait(worker.parked, parked);
  }
  if (was_active) become_active(worker);
  tick_again(worker);
  adopt();
}

// ---------------------------------------------------------------- spares

void look_after_what_was_left() {
  left_to_awake.exchange(false, std::memory_order_acq_rel);
  if (!something_waits()) return;
  left_to_awake.store(true, std::memory_order_relaxed);
  os::heavy_fence();
  if (fewer_awake_than_wanted(watchdog_counts_blocked())) get_spare();
}

void rest(Worker& worker) {
  leave_identities_to_others(worker);
  leave_klts_to_others(worker);
  worker.active.store(false, std::memory_order_relaxed);
  worker.parked.store(Parked::spare_rests, std::memory_order_release);
  left_to_awake.store(true, std::memory_order_release);
  os::heavy_fence();
  // Who left it something just now, and its CPU with it, may have seen it awake.
  const bool is_wanted = something_waits() && fewer_awake_than_wanted(watchdog_counts_blocked());
  if (is_wanted || worker.claims.ends.load(std::memory_order_relaxed)) wake_resting_spare(worker);
  while (worker.parked.load(std::memory_order_acquire) == Parked::spare_rests)
    os::futex_wait(worker.parked, Parked::spare_rests);
  become_active(worker);
  tick_again(worker);
}

bool fewer_awake_than_wanted(unsigned blocked) { return count_awake_for_others() < active_workers() + blocked; }

bool some_awake() { return find_worker(is_awake) != nullptr; }

bool some_unbound_runs() {
  return find_worker([](const Worker& worker) { return runs(worker) && !is_of_root(worker); }) != nullptr;
}

bool some_run_at(const Pool& place, bool unbound) {
  return find_worker([&place, unbound](const Worker& worker) {
           if (!runs(worker) || (unbound && is_of_root(worker))) return false;
           return takes_from_all(worker) || worker.attended.load(std::memory_order_relaxed) == &place;
         }) != nullptr;
}

// A root that waits takes what lies within its region; one in its own code comes to what is its own.
bool some_run_what_waits(const Worker* besides) {
  return find_worker([besides](const Worker& worker) {
           if (&worker == besides || !runs(worker)) return false;
           if (!is_of_root(worker)) return true;
           const bool waits = worker.lends_within.load(std::memory_order_relaxed) != nullptr;
           return waits ? any_work(worker) : offers_work(worker);
         }) != nullptr;
}

bool too_many_awake(const Worker& spare) {
  if (count_awake_for_others() <= active_workers() + watchdog_counts_blocked()) return false;
  return some_run_what_waits(&spare) || !something_waits();
}

Worker* stand_in() {
  Worker* found = nullptr;
  unsigned running = 0;
  for_each_worker([&](Worker& worker) {
    if (!runs(worker) || is_switched_off(worker)) return;
    ++running;
    if (!is_of_root(worker) && (found == nullptr || worker.claims.spare)) found = &worker;
  });
  if (found != nullptr && running > active_workers()) return found;
  if (Worker* spare = wake_resting_spare(); spare != nullptr) return spare;
  want_spare();
  return found;
}

}  // namespace weft::core
