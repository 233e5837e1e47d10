#include "core/create.h"

#include "arch/context.h"
#include "core/extras.h"
#include "core/idle.h"
#include "core/own_scheduler.h"
#include "core/parking_lot.h"
#include "core/pool/chain.h"
#include "core/sanitizer.h"
#include "core/scheduler.h"
#include "core/technique/start.h"
#include "os/barrier.h"

namespace weft::core {

WholeUnit done_mark;
WholeUnit detached_mark;

namespace {

constexpr std::uint16_t without(unsigned flags) { return static_cast<std::uint16_t>(~flags); }

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

bool fit_out(Worker& worker, Unit& unit, const Wish& wish) {
  if (wish.name != nullptr || wish.priority != 0) {
    unit.flags.store(wish.flags | UnitFlag::detailed, std::memory_order_relaxed);  // nobody else knows it yet
    details(unit).name = wish.name;
    details(unit).priority = wish.priority;
  }
  // One that starts at once has its stack now, so that want of memory can be told.
  const bool early = is_child_first(wish.technique) || binds_early(unit);
  if (wish.stack != nullptr)
    unit.stack = stack_in(wish.stack, wish.stack_size);
  else if (early)
    unit.stack = take_stack_if_there_is(worker, unit.stack_class);
  if (unit.stack != nullptr || !early) return true;
  discard_unit(worker, unit);
  return false;
}

void launch(Worker& worker, Unit& unit) {
  if (Pool* pool = unit.pool.load(std::memory_order_relaxed); pool != nullptr) {
    pool->push(&unit);
    if (pool->access() != Access::priv) notify_pool(*pool);
    return;
  }
  launch_all(worker, &unit, &unit, 1);
}

void launch_all(Worker& worker, Unit* first, Unit* last, std::size_t count) {
  if (Pool* pool = first->pool.load(std::memory_order_relaxed); pool != nullptr) {
    pool->push_many(first, last, count);
    notify_pool(*pool, count);
  } else if (worker.scheduler() != nullptr) [[unlikely]] {
    last->next = nullptr;
    launch_at(worker, first);
  } else {
    for_each_in_chain(first, last, [&worker](Unit* unit) { put_newest(worker, *unit); });
    notify();
  }
}

void launch_into(Pool& pool, Unit* first, Unit* last, std::size_t count) {
  pool.hand_in(first, last, count);
  notify_pool(pool, count);
}

void launch_at(Worker& place, Unit* first) {
  Worker& open = open_worker(place);
  for_each_in_chain(first, [&open](Unit* unit) { open.inbox.put(unit); });
  os::light_fence();
  wake(open);
  notify();
}

namespace {

// Unit::waiters: the bit, and the chain above it.
constexpr std::uintptr_t parked_bit = 1;

std::uintptr_t parked_bit_of(const Unit* word) { return reinterpret_cast<std::uintptr_t>(word) & parked_bit; }
Unit* chain_in(Unit* word) { return reinterpret_cast<Unit*>(reinterpret_cast<std::uintptr_t>(word) & ~parked_bit); }
Unit* with_bit(Unit* chain, std::uintptr_t bit) {
  return reinterpret_cast<Unit*>(reinterpret_cast<std::uintptr_t>(chain) | bit);
}

// By whoever has come for a visit. An end that has begun before is about to write the word, without another look if it
// has seen nobody, or only the joiner that has called the unit (end_free_standing, technique/by_joiner.cpp). One that
// has not begun takes it from here by exchange; and where somebody is parked, it needs the lock that the caller may
// have.
void let_end(const Unit& unit) {
  wait_while([&unit] {
    if (unit.state.load(std::memory_order_acquire) != UnitState::done) return false;
    const Unit* word = unit.waiters.load(std::memory_order_acquire);
    return word != &done_mark && word != &detached_mark && parked_bit_of(word) == 0;
  });
}

// Changes the word to what next(word) says. False: the unit is done.
template <class Next>
bool change_waiters(Unit& unit, Next next) {
  let_end(unit);
  Unit* word = unit.waiters.load(std::memory_order_acquire);
  do {
    if (word == &done_mark) return false;
  } while (!unit.waiters.compare_exchange_weak(word, next(word), std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

}  // namespace

bool add_waiter(Unit& unit, Unit& self) {
  return change_waiters(unit, [&self](Unit* word) {
    self.next = chain_in(word);
    return with_bit(&self, parked_bit_of(word));
  });
}

namespace {

// Under the lock of its queue. False: it is done.
bool note_parked(const void* argument) {
  auto unit = static_cast<Unit*>(const_cast<void*>(argument));
  return change_waiters(*unit, [](Unit* word) { return with_bit(word, parked_bit); });
}

// Of the worker that created the unit, if that is another one than the caller's.
Privacy* foreign_privacy(const Worker& worker, const Unit& unit) {
  if (unit.birth == worker.index || unit.birth >= runtime.slots.load(std::memory_order_acquire)) return nullptr;
  Worker* birth = runtime.worker_at[unit.birth].load(std::memory_order_acquire);
  return birth != nullptr ? &birth->privacy : nullptr;
}

}  // namespace

void wait_for_end(Unit& unit) {
  Worker& worker = worker_here();
  Unit& self = *worker.current;
  if (is_root(self) && scope_of(self) == nullptr) run_until_done(unit);
  if (is_done(unit)) return;
  prepare_suspend(self);
  {
    const Privacy::Visit visit(foreign_privacy(worker, unit));
    if (!add_waiter(unit, self)) {
      cancel_suspend(self);
      return;
    }
  }
  suspend();
}

bool wait_for_end_until(Unit& unit, std::uint64_t deadline) {
  Parking parking{strict_key(&unit), note_parked, &unit};
  parking.deadline = deadline;
  parking.visited = foreign_privacy(worker_here(), unit);
  return park(parking) != ParkResult::timed_out;
}

void renew_details(Unit& unit) {
  UnitDetails& of_unit = details(unit);
  of_unit.name = nullptr;
  of_unit.priority = 0;
  of_unit.revivals = 0;
  of_unit.held_off = 0;
}

namespace {

// What the word was; if nobody waits, it is detached_mark from now on.
Unit* mark_detached(Unit& unit) {
  let_end(unit);
  Unit* word = nullptr;
  if (unit.waiters.compare_exchange_strong(word, &detached_mark, std::memory_order_acq_rel)) return nullptr;
  if (word == &done_mark || chain_in(word) != nullptr) return word;
  Waiters parked(strict_key(&unit));
  if (!parked.empty()) return word;
  const bool marked = unit.waiters.compare_exchange_strong(word, &detached_mark, std::memory_order_acq_rel);
  return marked ? nullptr : word;
}

}  // namespace

bool detach(Unit& unit) {
  Worker& worker = worker_here();
  {
    const Privacy::Visit visit(foreign_privacy(worker, unit));
    const Unit* before = mark_detached(unit);
    if (before == nullptr) return true;
    if (before != &done_mark) return false;
  }
  free_unit(worker, unit);
  return true;
}

void renew(Unit& unit, void (*entry)(void*), void* argument) {
  unit.entry = entry;
  unit.argument = argument;
  unit.departed = false;
  details(unit).held_off = 0;
  constexpr std::uint16_t most = UINT16_MAX - 1;  // so that all starts fit
  if (std::uint16_t& revivals = details(unit).revivals; revivals != most) ++revivals;
  if (has_flag(unit, UnitFlag::chosen)) unit.technique = Technique::automatic;
  unit.flags.fetch_or(UnitFlag::detailed, std::memory_order_relaxed);
  unit.flags.fetch_and(without(UnitFlag::cancelled | UnitFlag::granted), std::memory_order_relaxed);
  unit.state.store(UnitState::created, std::memory_order_relaxed);
  unit.waiters.store(nullptr, std::memory_order_release);
}

void exit_unit(Unit& unit) {
  if (details(unit).face != nullptr) end_extras(unit);
  sanitizer::abandon_frames(*unit.stack, this_worker()->sanitizer.left_fiber);
  weft_unit_finish();
}

namespace {

// All changes of the two flags are in one order: whoever takes wants_grant away decides.
bool use_grant(Unit& unit) {
  constexpr std::uint16_t neither = without(UnitFlag::granted | UnitFlag::wants_grant);
  return (unit.flags.fetch_and(neither, std::memory_order_acq_rel) & UnitFlag::wants_grant) != 0;
}

}  // namespace

void wait_for_grant(Unit& unit) {
  if ((unit.flags.fetch_and(without(UnitFlag::granted), std::memory_order_acq_rel) & UnitFlag::granted) != 0) return;
  prepare_suspend(unit);
  const std::uint16_t before = unit.flags.fetch_or(UnitFlag::wants_grant, std::memory_order_acq_rel);
  if ((before & UnitFlag::granted) != 0 && use_grant(unit)) {
    cancel_suspend(unit);
    return;
  }
  suspend();
}

bool grant(Unit& unit, bool yields) {
  const std::uint16_t before = unit.flags.fetch_or(UnitFlag::granted, std::memory_order_acq_rel);
  if ((before & UnitFlag::granted) != 0) return false;
  const bool waits = (before & UnitFlag::wants_grant) != 0 && use_grant(unit);
  if (yields)
    waits ? resume_to(unit) : yield();
  else if (waits)
    resume(unit);
  return true;
}

namespace {

// The chain, or detached_mark; the unit may be gone then.
[[gnu::noinline]] Unit* tell_parked(Unit& unit) {
  Waiters parked(strict_key(&unit));
  Unit* word = unit.waiters.exchange(&done_mark, std::memory_order_acq_rel);
  parked.take_all();
  return chain_in(word);
}

}  // namespace

void tell_waiters(Worker& worker, Unit& unit) {
  worker.privacy.pass();
  Unit* waiters = unit.waiters.load(std::memory_order_acquire);  // who detached it has read it until then
  while (waiters != &detached_mark) {
    if (parked_bit_of(waiters) != 0) [[unlikely]] {
      waiters = tell_parked(unit);
      break;
    }
    if (unit.waiters.compare_exchange_weak(waiters, &done_mark, std::memory_order_acq_rel, std::memory_order_acquire))
      break;
  }
  if (waiters == nullptr) return;
  if (waiters == &detached_mark)
    free_unit(worker, unit);
  else if (waiters->next == nullptr)
    resume(*waiters);  // goes on before what is older here: it is what the unit was made for
  else
    resume_all(waiters);
}

}  // namespace weft::core
