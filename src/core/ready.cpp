#include "core/ready.h"

#include "core/active.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/pool/chain.h"
#include "core/pool/pool.h"
#include "core/scheduler.h"
#include "core/technique/pass.h"
#include "core/technique/start.h"
#include "core/workers.h"
#include "os/barrier.h"

namespace weft::core {
namespace {

// Whether the worker is the one that serves a pool that one worker has to itself. A unit may have come from such a
// pool, or be told to migrate there, and run elsewhere. Who serves it is not known where that is a scheduler in a pool:
// then it is one whose unit has been run by that scheduler.
bool serves(const Worker& worker, const Pool& pool) {
  const Worker* server = pool.server.load(std::memory_order_relaxed);
  return server != nullptr ? server == &worker : worker.served == &pool;
}

// Why a unit comes back.
enum class Comes : bool { ready, gives_way };

// Into a pool that takes it from this caller; of access priv, into that of the worker here.
inline void push_as(Comes comes, Unit& unit, Pool& pool) {
  if (comes == Comes::gives_way)
    pool.push_behind(&unit);
  else if (pool.access() == Access::priv)
    pool.push(&unit);
  else
    pool.put_back(&unit);
}

// Back into the pool of its own: whoever resumes the unit may be anybody, and need not have a worker (core/timer.cpp).
void put_into_pool(const Worker* worker, Unit& unit, Pool& pool, Comes comes) {
  const bool is_here = worker != nullptr && serves(*worker, pool);
  if (is_here && pool.is_private_list()) {
    push_as(comes, unit, pool);  // of this worker's scheduler: nobody else is to be told
    return;
  }
  if (has_flag(unit, UnitFlag::placed)) {
    const Share* scope = scope_of(unit);
    pool.push(&unit);
    notify_place(pool, scope);
    return;
  }
  if (pool.access() == Access::priv && !is_here)
    pool.put_back(&unit);
  else
    push_as(comes, unit, pool);
  notify_pool(pool);
}

// False: it has none.
inline bool put_into_its_pool(const Worker& worker, Unit& unit, Comes comes) {
  // acquire: partner of whoever has just told it to migrate (weft_unit_migrate).
  Pool* pool = unit.pool.load(std::memory_order_acquire);
  if (pool != nullptr) put_into_pool(&worker, unit, *pool, comes);
  return pool != nullptr;
}

// The same of one that gives way, where that is a list of this worker's own, and a matter of a few instructions. False:
// nothing has happened.
inline bool put_into_own_list(const Worker& worker, Unit& unit) {
  Pool* pool = unit.pool.load(std::memory_order_acquire);
  return pool != nullptr && pool->server.load(std::memory_order_relaxed) == &worker && pool->push_behind_quickly(&unit);
}

}  // namespace

// A root may be away for long; what is left at a scheduler of weft's has its turn there (next_ready). One of the
// program's own looks neither into the deque nor into the inbox of its worker.
Worker& open_worker(Worker& worker) {
  const auto is_open = [](const Worker& candidate) {
    return candidate.own_scheduler.load(std::memory_order_acquire) == nullptr;
  };
  if (is_open(worker)) [[likely]]
    return worker;
  const auto find_open = [is_open](auto suits) {
    return find_worker([is_open, suits](const Worker& candidate) {
      return is_open(candidate) && candidate.parked.load(std::memory_order_relaxed) != Parked::spare_rests &&
             !is_switched_off(candidate) && suits(candidate.use.load(std::memory_order_relaxed));
    });
  };
  Worker* other = find_open([](WorkerUse use) { return use == WorkerUse::of_weft; });
  if (other == nullptr && has_custom_scheduler(worker))
    other = find_open([](WorkerUse use) { return use != WorkerUse::none; });
  return other != nullptr ? *other : worker;
}

namespace {

// To an open worker. That may be given a scheduler meanwhile, and sleep for the pools of that, where nobody else comes.
// (Bug: the unit was told to all but that one.)
[[gnu::noinline]] void hand_to(Worker& open, Unit& unit) {
  open.inbox.put(&unit);
  os::light_fence();
  wake(open);
}

}  // namespace

void put_ready(Worker& worker, Unit& unit) {
  if (put_into_its_pool(worker, unit, Comes::ready)) return;
  const Share* scope = scope_of(unit);
  if (Worker& open = open_worker(worker); &open != &worker) [[unlikely]]
    hand_to(open, unit);
  else
    put_newest(worker, unit);
  notify(scope);
}

void put_own_into_pool(Worker& worker) {
  const Scheduler& own = *worker.scheduler();
  if ((worker.deque.looks_empty() && worker.inbox.looks_empty())) [[likely]]
    return;
  while (Unit* unit = next_local(worker)) {
    Pool* pool = unit->pool.load(std::memory_order_acquire);
    put_into_pool(&worker, *unit, pool != nullptr ? *pool : *own.pool(0), Comes::ready);
  }
}

[[gnu::noinline]] void put_behind_all_others(Worker& worker, Unit& unit) {
  if (Worker& open = open_worker(worker); &open != &worker) {
    hand_to(open, unit);
  } else if (!worker.privacy.enter()) {
    worker.inbox.put(&unit);
  } else {
    const bool put = worker.deque.push_oldest_alone(&unit);
    worker.privacy.leave();
    if (!put) worker.inbox.put(&unit);
  }
}

void put_back_passed_over(Worker& worker, Unit& unit) {
  if (put_into_its_pool(worker, unit, Comes::gives_way)) return;
  const Share* scope = scope_of(unit);
  put_behind_all_others(worker, unit);
  notify(scope);
}

namespace {

[[gnu::noinline]] void put_back_yielded_slowly(Worker& worker, Unit& unit) {
  keep_identity(worker, unit);
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  put_back_passed_over(worker, unit);
}

}  // namespace

// The same with fewer steps, for most.
[[gnu::noinline]] void put_back_yielded(Worker& worker, Unit& unit) {
  if (runs_on_any_identity(unit)) [[likely]] {
    unit.state.store(UnitState::ready, std::memory_order_relaxed);
    if (put_into_own_list(worker, unit)) return;
  }
  put_back_yielded_slowly(worker, unit);
}

void put_back_preempted(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  put_behind_all_others(worker, unit);
  notify(nullptr, true);
}

namespace {

// The state that it had before.
UnitState make_ready(Unit& unit) {
  if (unit.state.load(std::memory_order_acquire) != UnitState::suspended)
    return unit.state.exchange(UnitState::ready, std::memory_order_acq_rel);
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  return UnitState::suspended;
}

}  // namespace

void resume(Unit& unit) {
  if (is_root(unit)) {
    Worker* home = &worker_of(unit);
    unit.state.exchange(UnitState::ready, std::memory_order_acq_rel);
    os::light_fence();
    wake(*home);
    return;
  }
  // Else it is still on its stack, and its worker will see; it may run, and be gone.
  if (make_ready(unit) == UnitState::suspended) put_ready(worker_here(), unit);
}

namespace {

// Units that have become ready, gathered by worker, so that each inbox is touched once.
class Batches {
 public:
  /// Of those that were last at `home`.
  void add(Worker& home, Unit& unit) {
    any_ = true;
    unsigned index = 0;
    while (index < used_ && batches_[index].home != &home) ++index;
    if (index == most) {
      hand_to(open_worker(home), unit);
    } else if (index == used_) {
      batches_[used_++] = {&home, &open_worker(home), &unit, &unit};
    } else {
      unit.next = batches_[index].newest;
      batches_[index].newest = &unit;
    }
  }

  /// Where they belong, and tells those who may run them. `self`: this thread's, or nullptr.
  void put(Worker* self) {
    if (!any_) return;
    for (unsigned index = 0; index < used_; ++index) put(batches_[index], self);
    for (unsigned index = 0; index < used_; ++index) {
      if (batches_[index].worker == self) continue;
      os::light_fence();
      wake(*batches_[index].worker);
    }
    notify();
  }

 private:
  struct Batch {
    Worker* home;
    Worker* worker;  // where those from there go
    Unit* newest;
    Unit* oldest;
  };
  static constexpr unsigned most = 16;

  static void put(const Batch& batch, Worker* self) {
    // Others that look for work here take an inbox as a whole.
    if (batch.worker != self || !self->privacy.is_private()) {
      batch.worker->inbox.put(batch.newest, batch.oldest);
      return;
    }
    // So that the oldest comes first.
    for_each_in_chain(batch.newest, batch.oldest, [self](Unit* unit) { put_newest(*self, *unit); });
  }

  Batch batches_[most];
  unsigned used_ = 0;
  bool any_ = false;
};

}  // namespace

void resume_all(Unit* chain) {
  Batches batches;
  while (chain != nullptr) {
    Unit& unit = *chain;
    chain = chain->next;
    if (is_root(unit)) {
      resume(unit);
      continue;
    }
    // Not looked at before: one that is still on its stack may be gone afterwards, and may not know its worker yet.
    if (make_ready(unit) != UnitState::suspended) continue;
    Worker& home = worker_of(unit);
    if (Pool* pool = unit.pool.load(std::memory_order_acquire); pool != nullptr)
      put_into_pool(this_worker(), unit, *pool, Comes::ready);
    else
      batches.add(home, unit);
  }
  batches.put(this_worker());
}

void resume_chain(Worker& home, Unit* newest, Unit* oldest) {
  Worker& self = worker_here();
  Worker& place = open_worker(home);
  if (&place == &self) {
    for_each_in_chain(newest, oldest, [&self](Unit* unit) {  // so that the oldest comes first
      unit->state.store(UnitState::ready, std::memory_order_relaxed);
      put_ready(self, *unit);
    });
    return;
  }
  place.inbox.put(newest, oldest);
  os::light_fence();
  wake(place);
  notify();
}

void resume_to(Unit& next) {
  Worker& worker = worker_here();
  Unit& unit = *worker.current;
  if (is_root(next) || make_ready(next) != UnitState::suspended) {
    if (is_root(next)) resume(next);
    yield();
    return;
  }
  const Pool* pool = next.pool.load(std::memory_order_acquire);
  const bool is_for_others = pool != nullptr && pool->access() == Access::priv && !serves(worker, *pool);
  if (!is_root(unit) && !is_for_others && may_pass_to(worker, unit, next)) {
    leave_unit_for(worker, unit, Event::yielded, next);
  } else {
    put_ready(worker, next);
    yield();
  }
}

void start(Unit& unit) {
  put_newest(worker_here(), unit);
  notify();
}

}  // namespace weft::core
