// Sleeping and waking; the protocol is at the head of idle.cpp.
#pragma once

#include "core/create.h"
#include "core/runtime.h"
#include "core/worker.h"
#include "os/barrier.h"

namespace weft::core {

/// Searching is counted, so that publishers need not wake a worker while another looks already. A root
/// that may not run everything is not counted, nor a worker with a scheduler of its own: nobody can rely on
/// them. A worker is given another scheduler by what runs on it, so never during a search.
class Searching {
 public:
  explicit Searching(Worker& worker) : worker_(worker), counted_(is_counted()) {}

  bool on() const { return on_; }
  void begin();
  /// Somebody has counted it already: the waker.
  void adopt();
  /// Work was found: the last searcher hands the search on to a sleeper.
  void found();
  /// The worker stops searching without going to sleep.
  void end();
  /// After a look in vain: whether it is time to sleep.
  bool exhausted();
  /// Sleeps until woken, for work or because what the worker waits for is there; goes on searching.
  void sleep();

 private:
  bool is_counted() const {
    return worker_.lends_within.load(std::memory_order_relaxed) == nullptr && worker_.scheduler() == nullptr;
  }
  bool others_want_cpu(std::uint64_t now);

  Worker& worker_;
  bool counted_;  // the search that is on, or that comes next
  bool on_ = false;
  unsigned rounds_ = 0;
  std::uint64_t patience_ = 0;
};

/// Whether a root has nothing to wait for any more.
inline bool root_is_ready(const Unit* root) {
  return root != nullptr && root->state.load(std::memory_order_acquire) == UnitState::ready;
}

/// Whether what the worker's root waits for is there.
[[gnu::always_inline]] inline bool is_over(const Worker& worker) {
  return root_is_ready(worker.until_ready) || (worker.until_done != nullptr && is_done(*worker.until_done));
}

/// Whether the worker comes to what waits at others, as far as it may run that.
inline bool takes_from_others(const Worker& worker) { return worker.scheduler() == nullptr; }

/// Tells idle workers that there is work that they can find, and what it belongs to (nullptr: not known,
/// or to nothing). Call after publishing it. In a handler nothing may be allocated, so no KLT is started.
void notify_slow(const Share* scope, bool in_handler = false);
inline void notify(const Share* scope = nullptr, bool in_handler = false) {
  os::light_fence();
  if (runtime.sleepers.load(std::memory_order_relaxed) > 0) notify_slow(scope, in_handler);
}

/// How many workers look for work at this moment, or have been woken to.
inline unsigned searchers() {
  const std::int32_t count = runtime.searchers.load(std::memory_order_relaxed);
  return count > 0 ? static_cast<unsigned>(count) : 0;
}

/// Whether it makes sense for the worker, the caller's, to spin: there is a CPU for each KLT that is awake, and its own
/// is not wanted by others (core/courtesy.h). `now`: os::now_ns(). Not cheap.
bool spinning_pays(const Worker& worker, std::uint64_t now);

/// Wakes the worker if it sleeps for want of work.
bool wake(Worker& worker);

/// Of one that was counted among Runtime::searchers, and has not looked a last time, as whoever goes to sleep does: it
/// is none any more, and what was published meanwhile may have relied on it.
void end_counted_search();

/// A spare worker has nothing to do: sleeps until it is needed.
void rest(Worker& worker);

/// A spare rests though something waits: there are others, who are awake.
extern std::atomic<bool> left_to_awake;
void look_after_what_was_left();

/// The caller's worker has just ceased to count among those that are awake for others. What was left to it, a spare
/// does.
inline void leave_to_spare_what_was_left() {
  os::light_fence();
  if (left_to_awake.load(std::memory_order_relaxed)) [[unlikely]]
    look_after_what_was_left();
}

/// The worker is in use no more: a root's, whose region is over.
inline void become_inactive(Worker& worker) {
  worker.active.store(false, std::memory_order_relaxed);
  leave_to_spare_what_was_left();
}

/// Whether there are fewer workers awake that take from others than there should be, if so many of them sleep in the
/// kernel.
bool fewer_awake_than_wanted(unsigned blocked);

/// Whether some worker is awake: in use, if only by a call that sleeps in the kernel.
bool some_awake();

/// Whether one that may run anything is, and does not sleep in the kernel.
bool some_unbound_runs();

/// Whether one that takes what waits at the place is, and does not sleep in the kernel; `unbound`: which may run
/// anything.
bool some_run_at(const Pool& place, bool unbound);

/// Whether somebody else runs, and does not sleep in the kernel, who comes to some of what waits.
bool some_run_what_waits(const Worker* besides);

/// The same way, whether more are awake than there should be, so that this one, a spare, had better rest. Not if
/// something waits that none of the others comes to.
bool too_many_awake(const Worker& spare);

/// From a handler: a worker that can run anything, for a root that leaves its CPU: one that is awake and does not sleep
/// in the kernel, or else one that is woken. nullptr: there is none. Where there are too few, the watchdog makes one.
Worker* stand_in();

}  // namespace weft::core
