// Units that are ready, and where they go: back into a pool of their own, or to a worker, and who is told of it. Here,
// too, a unit that has just left its worker is settled: that it suspends, yields or has ended takes effect only when
// nothing is in use on its stack any more. (But for a yield into a list that is the worker's alone, or is left to it
// for as long: yield_unit() in technique/switch.cpp.)
#include "core/scheduler.h"

#include "core/active.h"
#include "core/create.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/pool/chain.h"
#include "core/pool/pool.h"
#include "core/sync/mutex.h"
#include "core/technique/entry.h"
#include "core/workers.h"

namespace weft::core {
namespace {

// Whether the worker is the one that serves a pool that one worker has to itself. A unit may have come from such a
// pool, or be told to migrate there, and run elsewhere; and who serves it is not known where that is a scheduler in a
// pool.
bool serves(const Worker& worker, const Unit& unit, const Pool& pool) {
  const Worker* server = pool.server.load(std::memory_order_relaxed);
  return server != nullptr ? server == &worker : unit.place == worker.index;
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
  const bool is_here = worker != nullptr && serves(*worker, unit, pool);
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

void put_ready(Worker& worker, Unit& unit) {
  if (put_into_its_pool(worker, unit, Comes::ready)) return;
  const Share* scope = scope_of(unit);
  if (Worker& open = open_worker(worker); &open != &worker) [[unlikely]]
    open.inbox.put(&unit);
  else
    put_newest(worker, unit);
  notify(scope);
}

void put_own_into_pool(Worker& worker) {
  const Scheduler& own = *worker.scheduler();
  if ((worker.deque.looks_empty() && worker.inbox.looks_empty()) || own.pool_count() == 0) [[likely]]
    return;
  while (Unit* unit = next_local(worker)) {
    Pool* pool = unit->pool.load(std::memory_order_acquire);
    put_into_pool(&worker, *unit, pool != nullptr ? *pool : *own.pool(0), Comes::ready);
  }
}

[[gnu::noinline]] void put_behind_all_others(Worker& worker, Unit& unit) {
  Worker& open = open_worker(worker);
  if (&open != &worker || !worker.privacy.enter()) {
    open.inbox.put(&unit);
  } else {
    const bool put = worker.deque.push_oldest_alone(&unit);
    worker.privacy.leave();
    if (!put) worker.inbox.put(&unit);
  }
}

namespace {

void settle_suspended(Worker& worker, Unit& unit) {
  keep_identity(worker, unit);
  UnitState expected = UnitState::suspending;
  // acq_rel: publishes the saved context; sees what the resumer did before an early `ready`.
  if (!unit.state.compare_exchange_strong(expected, UnitState::suspended, std::memory_order_acq_rel))
    put_ready(worker, unit);
}

// To the unit that goes on here now, if it wants that mutex and nobody has been waiting for it (sync/condition.h).
void unlock_or_hand_on(Worker& worker) {
  Mutex& mutex = *worker.left_locked;
  worker.left_locked = nullptr;
  const Unit* next = worker.current;
  if (next != nullptr && next->stack->relocks == &mutex && mutex.held_and_not_awaited())
    next->stack->relocks = nullptr;
  else
    mutex.unlock();
}

void settle_parked(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::suspended, std::memory_order_relaxed);
  worker.parked_under->unlock();
  if (worker.left_locked != nullptr) unlock_or_hand_on(worker);
}

[[gnu::noinline]] void settle_yielded_slowly(Worker& worker, Unit& unit) {
  keep_identity(worker, unit);
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  put_back_passed_over(worker, unit);
}

// The same with fewer steps, for most.
[[gnu::noinline]] void settle_yielded(Worker& worker, Unit& unit) {
  if (runs_on_any_identity(unit)) [[likely]] {
    unit.state.store(UnitState::ready, std::memory_order_relaxed);
    if (put_into_own_list(worker, unit)) return;
  }
  settle_yielded_slowly(worker, unit);
}

[[gnu::noinline]] void settle_finished_slowly(Worker& worker, Unit& unit) {
  drop_identity(worker, unit);
  if (binds_early(unit) || unit.stack == nullptr) {
    tell_end(worker, unit);
    return;
  }
  Stack* stack = unit.stack;
  unit.stack = nullptr;
  tell_end(worker, unit);  // from then on the unit may be gone
  worker.stacks.give(stack);
}

// The same, of a free-standing unit that has a stack of weft's and no identity of its own.
[[gnu::noinline]] void settle_finished_and_give_stack(Worker& worker, Unit& unit) {
  Stack* stack = unit.stack;
  unit.stack = nullptr;
  end_free_standing(worker, unit);
  worker.stacks.give(stack);
}

}  // namespace

[[gnu::noinline]] void settle_finished(Worker& worker, Unit& unit) {
  constexpr unsigned others = UnitFlag::wants_identity | UnitFlag::own_memory;
  const unsigned flags = unit.flags.load(std::memory_order_relaxed) & (others | UnitFlag::free_standing);
  if (flags != UnitFlag::free_standing || unit.stack == nullptr) [[unlikely]]
    return settle_finished_slowly(worker, unit);
  // Before the end is told: the unit may be gone then. Nobody runs on that stack any more.
  const bool keeps_stack = binds_at_creation(unit.technique);
  if (!keeps_stack && (unit.technique != Technique::full_l || !give_stack_quickly(worker, unit)))
    return settle_finished_and_give_stack(worker, unit);
  end_free_standing(worker, unit);
}

// A function for each event, so that none saves registers for the others.
void settle(Worker& worker, Unit& unit, Event event) {
  switch (event) {
    case Event::returned:
      return;
    case Event::suspended:
      return settle_suspended(worker, unit);
    case Event::parked:
      return settle_parked(worker, unit);
    case Event::yielded:
      return settle_yielded(worker, unit);
    case Event::finished:
      return settle_finished(worker, unit);
  }
}

void put_back_passed_over(Worker& worker, Unit& unit) {
  if (put_into_its_pool(worker, unit, Comes::gives_way)) return;
  const Share* scope = scope_of(unit);
  put_behind_all_others(worker, unit);
  notify(scope);
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

void resume_all(Unit* chain) {
  // Gathered by worker, so that each inbox is touched once.
  struct Batch {
    Worker* home;
    Worker* worker;  // where those from there go
    Unit* newest;
    Unit* oldest;
  };
  constexpr unsigned most_batches = 16;
  Batch batches[most_batches];
  unsigned used = 0;
  bool any = false;
  while (chain != nullptr) {
    Unit* unit = chain;
    chain = chain->next;
    if (is_root(*unit)) {
      resume(*unit);
      continue;
    }
    // Not looked at before: one that is still on its stack may be gone afterwards, and may not know its worker yet.
    if (make_ready(*unit) != UnitState::suspended) continue;
    Worker* home = &worker_of(*unit);
    if (Pool* pool = unit->pool.load(std::memory_order_acquire); pool != nullptr) {
      put_into_pool(this_worker(), *unit, *pool, Comes::ready);
      continue;
    }
    any = true;
    unsigned index = 0;
    while (index < used && batches[index].home != home) ++index;
    if (index == most_batches) {
      Worker& open = open_worker(*home);
      open.inbox.put(unit);
      os::light_fence();
      wake(open);
    } else if (index == used) {
      batches[used++] = {home, &open_worker(*home), unit, unit};
    } else {
      unit->next = batches[index].newest;
      batches[index].newest = unit;
    }
  }
  Worker* self = this_worker();
  for (unsigned index = 0; index < used; ++index) {
    const Batch& batch = batches[index];
    // Others that look for work here take an inbox as a whole.
    if (batch.worker != self || !self->privacy.is_private()) {
      batch.worker->inbox.put(batch.newest, batch.oldest);
      continue;
    }
    // So that the oldest comes first.
    for_each_in_chain(batch.newest, batch.oldest, [self](Unit* unit) { put_newest(*self, *unit); });
  }
  if (!any) return;
  for (unsigned index = 0; index < used; ++index) {
    if (batches[index].worker == self) continue;
    os::light_fence();
    wake(*batches[index].worker);
  }
  notify();
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
  const bool is_for_others = pool != nullptr && pool->access() == Access::priv && !serves(worker, next, *pool);
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
