#include "core/own_scheduler.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/idle.h"
#include "core/scheduler.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/distance.h"
#include "os/futex.h"

namespace weft::core {
namespace {

std::atomic<unsigned> lookers{0};  // in ask_scheduler()

unsigned distance_to(const Pool& pool, int cpu) {
  const Worker* server = pool.server.load(std::memory_order_relaxed);
  return server != nullptr ? os::distance(cpu, server->cpu.load(std::memory_order_relaxed)) : os::farthest;
}

}  // namespace

void reset_scheduler_lookers() { lookers.store(0, std::memory_order_relaxed); }

Scheduler::Scheduler(SchedulerKind kind, std::size_t count, Pool* const* pools, Run function, void* data,
                     bool stateless)
    : kind_(kind), stateless_(stateless), count_(count), run_(function), data_(data) {
  for (std::size_t index = 0; index < count; ++index) this->pools()[index] = pools[index];
  if (kind != SchedulerKind::custom && count == 1 && pools[0]->access() == Access::priv) private_pool_ = pools[0];
}

Scheduler* Scheduler::create(SchedulerKind kind, std::size_t count, Pool* const* pools, Run function, void* data,
                             bool stateless) {
  void* memory = std::malloc(sizeof(Scheduler) + count * sizeof(void*));
  if (memory == nullptr) return nullptr;
  return new (memory) Scheduler(kind, count, pools, function, data, stateless);
}

Scheduler* Scheduler::create_packed(Packing& packing, unsigned rank, Pool* const* pools) {
  Scheduler* scheduler = create(SchedulerKind::packed, packing.total, pools, nullptr, nullptr, true);
  if (scheduler == nullptr) return nullptr;
  scheduler->packing_ = &packing;
  scheduler->rank_ = rank;
  packing.schedulers.fetch_add(1, std::memory_order_relaxed);
  return scheduler;
}

// No worker has it any more, but somebody may look at it (ask_scheduler). Either its look at own_scheduler comes after
// the fence here, and finds another scheduler or none; or its announcement in `lookers` came before, and is seen.
void Scheduler::destroy() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  while (lookers.load(std::memory_order_acquire) != 0) os::give_up_cpu();
  if (packing_ != nullptr) packing_->schedulers.fetch_sub(1, std::memory_order_release);
  std::free(this);
}

// From pool `start` on, round about.
Unit* Scheduler::first_of(std::size_t start) {
  for (std::size_t step = 0; step < count_; ++step) {
    std::size_t index = start + step;
    if (index >= count_) index -= count_;
    if (Unit* unit = pools()[index]->pop(); unit != nullptr) return unit;
  }
  return nullptr;
}

// Where the distances are known, from the nearest first; among those that are equally near, from a random one on. Only
// workers that are bound to a CPU are at any distance from one another.
Unit* Scheduler::steal(Worker& worker) {
  const std::size_t others = count_ - 1;
  const std::uint32_t start = next_random(worker);
  const int cpu = worker.cpu.load(std::memory_order_relaxed);
  const bool by_distance = cpu >= 0 && others > 1 && os::distances_known();
  if (cpu >= 0 && others > 1 && !by_distance) os::ask_for_distances();
  for (unsigned distance = by_distance ? 0 : os::farthest; distance <= os::farthest; ++distance) {
    for (std::size_t step = 0; step < others; ++step) {
      Pool& victim = *pools()[1 + (start + step) % others];
      if (by_distance && distance_to(victim, cpu) != distance) continue;
      Unit* unit = victim.steal();
      if (unit == nullptr) continue;
      ++worker.counters.steals;
      return unit;
    }
  }
  return nullptr;
}

// visit(Pool&): those of which Pool::server tells.
template <class Visit>
void Scheduler::for_each_served(Visit visit) {
  for (std::size_t index = 0; index < count_; ++index)
    if (index == 0 || pools()[index]->access() == Access::priv) visit(*pools()[index]);
}

void Scheduler::begin_on(const Worker& worker) {
  // Not earlier: a pool may become another kind until a worker serves it (Pool::set_preemption).
  if (private_pool_ != nullptr) private_fifo_ = private_pool_->fifo_ring();
  for_each_served([&worker](Pool& pool) { pool.server.store(&worker, std::memory_order_relaxed); });
}

void Scheduler::end_on(const Worker& worker) {
  for_each_served([&worker](Pool& pool) {
    const Worker* server = &worker;
    pool.server.compare_exchange_strong(server, nullptr, std::memory_order_relaxed);
  });
  users.fetch_sub(1, std::memory_order_release);  // may be freed from now on
}

// Algorithm 1, lines 7-10, except that the worker's pools take turns: units that spin in the first must not keep those
// of the second from what they spin for.
[[gnu::noinline]] Unit* Scheduler::take_private(unsigned active, unsigned in_private) {
  const unsigned mine = in_private / active;
  for (unsigned step = 0; step < mine; ++step) {
    const unsigned turn = next_private_++ % mine;
    if (Unit* unit = pools()[rank_ + turn * active]->pop(); unit != nullptr) return unit;
  }
  return nullptr;
}

// Algorithm 1, lines 11-14; by turns for the same reason, counted for all workers together.
Unit* Scheduler::take_shared(unsigned in_private) {
  const unsigned shared = packing_->total - in_private;
  const unsigned turn = packing_->shared_turns.load(std::memory_order_relaxed);
  for (unsigned step = 0; step < shared; ++step) {
    if (Unit* unit = pools()[in_private + (turn + step) % shared]->pop(); unit != nullptr) {
      packing_->shared_turns.fetch_add(1, std::memory_order_relaxed);
      return unit;
    }
  }
  return nullptr;
}

// Algorithm 1: one of the worker's own and one of those that all share, by turns.
[[gnu::noinline]] Unit* Scheduler::choose_packed(const Worker& worker) {
  const unsigned active = packing_->active.load(std::memory_order_acquire);
  if (worker.claims.ends.load(std::memory_order_relaxed)) return first_of(0);
  if (rank_ >= active) return nullptr;
  const unsigned in_private = packing_->private_pools(active);
  for (unsigned attempt = 0; attempt < 2; ++attempt) {
    shared_turn_ = !shared_turn_;
    Unit* unit = shared_turn_ ? take_shared(in_private) : take_private(active, in_private);
    if (unit != nullptr) return unit;
  }
  return nullptr;
}

Unit* Scheduler::choose(Worker& worker) {
  switch (kind_) {
    case SchedulerKind::basic:
    case SchedulerKind::basic_wait: {
      // The first pool first; but now and then it is another's turn, or units that yield there for ever
      // would starve the rest.
      constexpr unsigned turns = 61;
      const bool others_turn = count_ > 1 && ++worker.turns.of_pools % turns == 0;
      return first_of(others_turn ? worker.turns.of_pools / turns % count_ : 0);
    }
    case SchedulerKind::by_priority:
    case SchedulerKind::custom:
      return first_of(0);
    case SchedulerKind::random_ws: {
      if (Unit* unit = pools()[0]->pop(); unit != nullptr) return unit;
      return count_ > 1 ? steal(worker) : nullptr;
    }
    case SchedulerKind::packed:
      return choose_packed(worker);
  }
  return nullptr;
}

// A packed one leaves alone the pools that other workers have to themselves.
template <class Wanted>
bool Scheduler::takes_from_one(Wanted wanted) const {
  if (is_off()) return false;
  const unsigned active = packing_ != nullptr ? packing_->active.load(std::memory_order_acquire) : 1;
  const unsigned in_private = packing_ != nullptr ? packing_->private_pools(active) : 0;
  for (std::size_t index = 0; index < count_; ++index) {
    const bool takes_from_it = index >= in_private || index % active == rank_;
    if (takes_from_it && wanted(*pools()[index])) return true;
  }
  return false;
}

bool Scheduler::has_work() const {
  return takes_from_one([](const Pool& pool) { return !pool.looks_empty(); });
}

bool Scheduler::may_have_work() const {
  if (is_off()) return true;  // for others
  for (std::size_t index = 0; index < count_; ++index)
    if (pools()[index]->is_custom() || !pools()[index]->looks_empty()) return true;
  return is_custom();
}

// Who wakes a worker for a unit relies on it: so only a pool that it would look into now.
bool Scheduler::has(const Pool& pool) const {
  return takes_from_one([&pool](const Pool& one) { return &one == &pool; });
}

bool Scheduler::is_given(const Pool& pool) const {
  return std::find(pools(), pools() + count_, &pool) != pools() + count_;
}

namespace {

// For those who are not the worker: it may be given another scheduler meanwhile, and this one be freed.
template <class Question>
bool ask_scheduler(const Worker& worker, Question question) {
  lookers.fetch_add(1, std::memory_order_seq_cst);
  const Scheduler* scheduler = worker.own_scheduler.load(std::memory_order_seq_cst);
  const bool answer = scheduler != nullptr && question(*scheduler);
  lookers.fetch_sub(1, std::memory_order_release);
  return answer;
}

}  // namespace

void set_active(Packing& packing, unsigned active) {
  packing.active.store(active, std::memory_order_seq_cst);
  os::heavy_fence();
  for_each_worker([&packing](Worker& worker) {
    if (ask_scheduler(worker, [&packing](const Scheduler& scheduler) { return scheduler.packing() == &packing; }))
      wake(worker);
  });
}

bool has_custom_scheduler(const Worker& worker) {
  return ask_scheduler(worker, [](const Scheduler& scheduler) { return scheduler.is_custom(); });
}

bool has_stateful_scheduler(const Worker& worker) {
  return ask_scheduler(worker, [](const Scheduler& scheduler) { return !scheduler.stateless(); });
}

bool has_scheduler(const Pool& pool) {
  return find_worker([&pool](Worker& worker) {
           return ask_scheduler(worker, [&pool](const Scheduler& scheduler) { return scheduler.is_given(pool); });
         }) != nullptr;
}

Pool* first_pool_of(const Worker& worker) {
  Pool* pool = nullptr;
  ask_scheduler(worker, [&pool](const Scheduler& scheduler) {
    if (scheduler.pool_count() != 0) pool = scheduler.pool(0);
    return true;
  });
  return pool;
}

bool scheduler_stops(const Worker& worker) {
  if (is_over(worker)) return true;
  // Whoever joins the worker waits for what is in its pools. Without a scheduler it goes on with weft's, which ends.
  const Scheduler* scheduler = worker.scheduler();
  return scheduler != nullptr && worker.claims.ends.load(std::memory_order_acquire) && !scheduler->has_work();
}

void replace_scheduler(Worker& worker, Scheduler* scheduler) {
  Scheduler* before = worker.scheduler();
  if (scheduler != nullptr) scheduler->users.fetch_add(1, std::memory_order_relaxed);  // first: it may be the same one
  worker.own_scheduler.store(scheduler, std::memory_order_seq_cst);
  if (before != nullptr) before->end_on(worker);  // not earlier: it may be freed from then on (destroy())
  if (scheduler != nullptr) {
    scheduler->begin_on(worker);
    if (before == nullptr) leave_to_spare_what_was_left();
    return;
  }
  // What lies there could not be seen before (find.cpp), and who was woken for it has gone to sleep again. Partner:
  // whoever puts something there, and has seen no sleepers.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!worker.inbox.looks_empty() || !worker.deque.looks_empty()) notify();
}

void notify_pool_slow(const Pool& pool, std::size_t pushed) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  find_worker([&pool, pushed](Worker& worker) mutable {
    if (worker.parked.load(std::memory_order_acquire) != Parked::for_its_pools) return false;
    const bool has = ask_scheduler(worker, [&pool](const Scheduler& scheduler) { return scheduler.has(pool); });
    return has && wake(worker) && --pushed == 0;
  });
}

}  // namespace weft::core
