#include "core/create.h"

#include "arch/context.h"
#include "core/extras.h"
#include "core/own_scheduler.h"
#include "core/sanitizer.h"
#include "core/scheduler.h"
#include "core/technique/start.h"

namespace weft::core {

Unit done_mark;
Unit detached_mark;

namespace {

// On the caller's own memory: without a guard, and never into a cache.
Stack* stack_in(void* memory, std::size_t size) {
  char* end = static_cast<char*>(memory) + size;
  const auto address = reinterpret_cast<std::uintptr_t>(end - sizeof(Stack)) & ~std::uintptr_t{base::cache_line - 1};
  auto stack = new (reinterpret_cast<void*>(address)) Stack;
  stack->memory.low = static_cast<char*>(memory);
  stack->memory.size = size;
  stack->fiber = sanitizer::create_fiber();
  return stack;
}

}  // namespace

Unit* make_unit(Worker& worker, void (*entry)(void*), void* argument, const Wish& wish) {
  Unit* unit = worker.units.take();
  if (unit == nullptr) return nullptr;
  unit->next = nullptr;
  unit->context = nullptr;
  unit->state.store(UnitState::created, std::memory_order_relaxed);
  unit->technique = wish.technique;
  std::uint8_t flags = UnitFlag::free_standing | wish.flags;
  if (wish.technique == Technique::automatic) flags |= UnitFlag::chosen;
  if (wish.stack != nullptr) flags |= UnitFlag::own_memory;
  unit->flags.store(flags, std::memory_order_relaxed);
  unit->entry = entry;
  unit->argument = argument;
  unit->stack = nullptr;
  unit->waiters.store((flags & UnitFlag::detached) != 0 ? &detached_mark : nullptr, std::memory_order_relaxed);
  unit->pool.store(wish.pool, std::memory_order_relaxed);
  unit->worker = &worker;
  unit->name = wish.name;
  unit->stack_kib = static_cast<std::uint32_t>((wish.stack_size + 1023) / 1024);
  unit->priority = wish.priority;
  unit->deviations = 0;
  unit->starts = 1;
  unit->moves = 0;
  const bool starts_at_once = wish.technique >= Technique::c_full;  // so that want of memory can be told
  if (wish.stack != nullptr)
    unit->stack = stack_in(wish.stack, wish.stack_size);
  else if (starts_at_once || binds_early(*unit))
    unit->stack = worker.stacks.take_if_there_is(wanted_stack(*unit));
  if (unit->stack == nullptr && (starts_at_once || binds_early(*unit))) {
    worker.units.give(*unit);
    return nullptr;
  }
  return unit;
}

void launch(Worker& worker, Unit& unit) {
  if (Pool* pool = unit.pool.load(std::memory_order_relaxed); pool != nullptr) {
    pool->push(&unit);
    notify_pool(*pool);
    return;
  }
  put_newest(worker, unit);
  notify();
}

void launch_all(Worker& worker, Unit* first, Unit* last, std::size_t count) {
  if (Pool* pool = first->pool.load(std::memory_order_relaxed); pool != nullptr) {
    pool->push_many(first, last, count);
    notify_pool(*pool);
  } else {
    last->next = nullptr;
    while (first != nullptr) {
      Unit* next = first->next;
      put_newest(worker, *first);
      first = next;
    }
    notify();
  }
}

void wait_for_end(Unit& unit) {
  Unit& self = this_unit();
  if (self.root && self.scope == nullptr) run_until_done(unit);
  if (is_done(unit)) return;
  prepare_suspend(self);
  Unit* chain = unit.waiters.load(std::memory_order_acquire);
  do {
    if (chain == &done_mark) {
      cancel_suspend(self);
      return;
    }
    self.next = chain;
  } while (!unit.waiters.compare_exchange_weak(chain, &self, std::memory_order_acq_rel, std::memory_order_acquire));
  suspend();
}

bool run_after(Unit& unit, Unit& then) {
  then.state.store(UnitState::suspended, std::memory_order_relaxed);
  Unit* chain = unit.waiters.load(std::memory_order_acquire);
  do {
    if (chain == &done_mark) return false;
    then.next = chain;
  } while (!unit.waiters.compare_exchange_weak(chain, &then, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

void free_unit(Worker& worker, Unit& unit) {
  if (unit.stack != nullptr) {
    if (has_flag(unit, UnitFlag::own_memory))
      sanitizer::destroy_fiber(unit.stack->fiber);
    else
      worker.stacks.give(unit.stack);
  }
  worker.units.give(unit);
}

bool detach(Unit& unit) {
  Unit* nobody = nullptr;
  if (unit.waiters.compare_exchange_strong(nobody, &detached_mark, std::memory_order_acq_rel)) return true;
  if (nobody != &done_mark) return false;
  free_unit(worker_here(), unit);
  return true;
}

void renew(Unit& unit, void (*entry)(void*), void* argument) {
  unit.entry = entry;
  unit.argument = argument;
  unit.context = nullptr;
  if (unit.starts != UINT16_MAX) ++unit.starts;
  if (has_flag(unit, UnitFlag::chosen)) unit.technique = Technique::automatic;
  unit.flags.fetch_and(static_cast<std::uint8_t>(~(UnitFlag::cancelled | UnitFlag::granted)), std::memory_order_relaxed);
  unit.state.store(UnitState::created, std::memory_order_relaxed);
  unit.waiters.store(nullptr, std::memory_order_release);
}

void exit_unit(Unit& unit) {
  if (unit.face != nullptr) end_extras(unit);
  sanitizer::abandon_frames(*unit.stack, this_worker()->left_fiber);
  weft_unit_finish();
}

// All changes of the two flags are in one order: whoever takes wants_grant away decides.
void wait_for_grant(Unit& unit) {
  if ((unit.flags.fetch_and(static_cast<std::uint8_t>(~UnitFlag::granted), std::memory_order_acq_rel) &
       UnitFlag::granted) != 0)
    return;
  prepare_suspend(unit);
  const std::uint8_t before = unit.flags.fetch_or(UnitFlag::wants_grant, std::memory_order_acq_rel);
  if ((before & UnitFlag::granted) != 0) {
    constexpr auto neither = static_cast<std::uint8_t>(~(UnitFlag::granted | UnitFlag::wants_grant));
    if ((unit.flags.fetch_and(neither, std::memory_order_acq_rel) & UnitFlag::wants_grant) != 0) {
      cancel_suspend(unit);
      return;
    }
  }
  suspend();
}

bool grant(Unit& unit) {
  const std::uint8_t before = unit.flags.fetch_or(UnitFlag::granted, std::memory_order_acq_rel);
  if ((before & UnitFlag::granted) != 0) return false;
  if ((before & UnitFlag::wants_grant) == 0) return true;
  constexpr auto neither = static_cast<std::uint8_t>(~(UnitFlag::granted | UnitFlag::wants_grant));
  if ((unit.flags.fetch_and(neither, std::memory_order_acq_rel) & UnitFlag::wants_grant) != 0) resume(unit);
  return true;
}

void end_free_standing(Worker& worker, Unit& unit) {
  unit.state.store(UnitState::done, std::memory_order_relaxed);
  Unit* waiters = unit.waiters.load(std::memory_order_relaxed);
  const Pool* pool = unit.pool.load(std::memory_order_acquire);
  if (waiters == nullptr && pool != nullptr && pool->access() == Access::priv) {
    // Only this worker joins it (weft_unit_join).
    unit.waiters.store(&done_mark, std::memory_order_relaxed);
    return;
  }
  if (waiters != &detached_mark) waiters = unit.waiters.exchange(&done_mark, std::memory_order_acq_rel);
  if (waiters == nullptr) return;
  if (waiters == &detached_mark)
    free_unit(worker, unit);
  else if (waiters->next == nullptr)
    resume(*waiters);  // goes on before what is older here: it is what the unit was made for
  else
    resume_all(waiters);
}

}  // namespace weft::core
