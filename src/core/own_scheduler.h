// Schedulers over pools of the program's own (dissertation 3.2, Fig. 3.2). A worker without one runs weft's default
// (scheduler.cpp).
#pragma once

#include <atomic>
#include <cstddef>

#include "core/pool/pool.h"
#include "core/runtime.h"
#include "core/worker.h"
#include "os/barrier.h"

struct weft_scheduler;  // the handle of the C API

namespace weft::core {

enum class SchedulerKind : std::uint8_t { basic, basic_wait, by_priority, random_ws, custom, packed };

/// Thread packing (Shiina et al. 4.2, Algorithm 1): workers of which only the first so many are active, and the pools
/// of all of them. Each active worker has the same number of pools to itself; the units of the others are run by all in
/// turn, before those that a worker has to itself, one slice each.
///
/// What is in whose hands follows from `active` alone, which each look reads anew; it may change at any time, since
/// every pool stands any number of consumers. A worker that is not active finds nothing and sleeps; who changes
/// `active` wakes all (set_active), and a unit that still runs on one that is not is preempted at the next tick.
struct Packing {
  std::atomic<unsigned> active;
  unsigned total;
  std::atomic<unsigned> schedulers{0};
  std::atomic<unsigned> shared_turns{0};  // which of the pools for all comes next

  /// How many of the pools belong to one of `workers` active workers alone, the first ones; the rest are for all.
  unsigned private_pools(unsigned workers) const { return workers * (total / workers); }
};

class Scheduler {
 public:
  using Run = void (*)(weft_scheduler* scheduler, void* data);

  /// nullptr without memory. `function` and `data`: of a custom one.
  static Scheduler* create(SchedulerKind kind, std::size_t count, Pool* const* pools, Run function, void* data,
                           bool stateless);
  /// The worker `rank` of a packing; the pools are those of all its workers, in the same order for all.
  static Scheduler* create_packed(Packing& packing, unsigned rank, Pool* const* pools);
  void destroy();

  /// The next unit for the worker, from its pools; nullptr if there is none.
  Unit* next(Worker& worker) { return private_pool_ != nullptr ? private_pool_->pop() : choose(worker); }
  bool has_work() const;
  /// The same, as far as can be told without calling functions of the program's.
  bool may_have_work() const;
  bool has(const Pool& pool) const;
  /// Also where it would not look into it now.
  bool is_given(const Pool& pool) const;
  std::size_t pool_count() const { return count_; }
  Pool* pool(std::size_t index) const { return pools()[index]; }

  /// A custom one: its function, on the calling KLT, until it is told to stop (scheduler_stops).
  void run() { run_(reinterpret_cast<weft_scheduler*>(this), data_); }
  bool is_custom() const { return kind_ == SchedulerKind::custom; }
  /// Whether a worker that finds nothing may sleep.
  bool sleeps() const { return kind_ >= SchedulerKind::basic_wait && kind_ != SchedulerKind::by_priority; }
  const Packing* packing() const { return packing_; }
  bool stateless() const { return stateless_; }
  /// Its only pool, where that is a list that nobody else may touch; else nullptr.
  Pool* private_list() const {
    return private_pool_ != nullptr && private_pool_->is_private_list() ? private_pool_ : nullptr;
  }

  /// The same, if it is first in first out, of one that a worker has.
  Ring<Order::fifo>* private_fifo() const { return private_fifo_; }

  /// A worker, one of its users, has it from now on, or no longer: then it is no user any more.
  void begin_on(const Worker& worker);
  void end_on(const Worker& worker);

  /// Workers and stacked units that run it.
  std::atomic<unsigned> users{0};

 private:
  Scheduler(SchedulerKind kind, std::size_t count, Pool* const* pools, Run function, void* data, bool stateless);
  Unit* choose(Worker& worker);
  template <class Visit>
  void for_each_served(Visit visit);
  Pool** pools() const { return reinterpret_cast<Pool**>(const_cast<Scheduler*>(this) + 1); }
  Unit* first_of(std::size_t start);
  Unit* choose_packed(const Worker& worker);
  template <class Wanted>
  bool takes_from_one(Wanted wanted) const;
  Unit* take_private(unsigned active, unsigned in_private);
  Unit* take_shared(unsigned in_private);
  /// A packed one: whether its worker is switched off.
  bool is_off() const { return packing_ != nullptr && rank_ >= packing_->active.load(std::memory_order_acquire); }
  Unit* steal(Worker& worker);

  const SchedulerKind kind_;
  const bool stateless_;
  Packing* packing_ = nullptr;
  unsigned rank_ = 0;
  unsigned next_private_ = 0;
  bool shared_turn_ = false;
  Pool* private_pool_ = nullptr;  // the only one it has, if that is private
  Ring<Order::fifo>* private_fifo_ = nullptr;
  const std::size_t count_;
  const Run run_;
  void* const data_;
};

/// Whether a function of the program's chooses what comes next on the worker, the caller's.
inline bool has_custom_function(const Worker& worker) {
  return worker.scheduler() != nullptr && worker.scheduler()->is_custom();
}

/// Whether the calling worker's scheduler, a custom one, has to return.
bool scheduler_stops(const Worker& worker);

/// The worker, which is the caller's, or whose KLT does not run, has this scheduler from now on; nullptr: weft's.
void replace_scheduler(Worker& worker, Scheduler* scheduler);

/// Of any worker.
bool has_custom_scheduler(const Worker& worker);
bool has_stateful_scheduler(const Worker& worker);

/// Whether any worker has a scheduler over that pool.
bool has_scheduler(const Pool& pool);

/// The first pool of any worker's scheduler; nullptr: it has weft's default, or one without pools.
Pool* first_pool_of(const Worker& worker);

/// From now on the first `active` workers of the packing run its units.
void set_active(Packing& packing, unsigned active);

/// In a forked child.
void reset_scheduler_lookers();

/// So many units were pushed, one at least: wakes as many workers that sleep and have that pool. (None of these wakes
/// another one.)
void notify_pool_slow(const Pool& pool, std::size_t pushed);
inline void notify_pool(const Pool& pool, std::size_t pushed = 1) {
  os::light_fence();
  if (runtime.sleepers.load(std::memory_order_relaxed) > 0) notify_pool_slow(pool, pushed);
}

}  // namespace weft::core
