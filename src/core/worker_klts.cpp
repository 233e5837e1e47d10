#include "core/worker_klts.h"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/panic.h"
#include "core/active.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_pools.h"
#include "core/own_klt.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/refusal.h"
#include "core/scheduler.h"
#include "core/spares.h"
#include "core/watchdog.h"
#include "core/worker_slots.h"
#include "core/workers.h"
#include "os/awaited_ends.h"
#include "os/barrier.h"
#include "os/fault.h"
#include "os/futex.h"
#include "os/identity.h"
#include "os/klt.h"
#include "os/lending_klt.h"
#include "os/signal_mask.h"

namespace weft::core {
namespace {

Spinlock ranks_lock;  // while one is looked for that is free
Refusal refusal_of_workers;
std::atomic<bool> told_of_workers{false};

// A unit may have kept the identity that the worker's KLT was born with. If it has ended since, that lies among the
// free ones, and the worker goes back to it, unless another worker has it spare.
void change_back_to(Worker& worker, os::Identity* native) {
  if (worker.identities.own == native || !take_identity_back(worker, native)) return;
  install(worker, native);
  if (worker.identities.own != nullptr) give_identity(worker, worker.identities.own);
  worker.identities.own = native;
}

// Somebody has the KLT's own identity, or will take it. So the KLT stays as its lender; and one that is free ends, for
// else there would be one more with each such worker: as a rule the one that lends what the KLT has run on instead.
// (Bug: only that one; but it may be another worker's KLT. Of two workers that had each other's, one stayed behind.)
void make_lender_of_this_klt(Worker& worker, os::Identity* native) {
  arch::set_thread_pointer(native->thread_pointer);  // from here on nothing thread-local
  if (worker.identities.own != nullptr) {
    give_identity(worker, worker.identities.own);
    end_free_lender(worker);
  }
  os::become_lender(*native);
}

// Of a KLT of weft's, whose worker somebody joins.
void* end_worker(Worker& worker, os::Identity* native) {
  end_ticking(worker);
  leave_klts_to_others(worker);
  leave_units_to_others(worker);
  change_back_to(worker, native);
  const bool is_lent = worker.identities.own != native;
  if (is_lent) os::block_all_signals();  // a handler would run on what is somebody else's
  // Nobody runs there: this is the KLT's own stack, and its handlers have returned. A lender takes no signals.
  os::withdraw_signal_stack(worker.signal_stack);
  worker.signal_stack = nullptr;
  if (is_lent) make_lender_of_this_klt(worker, native);
  leave_identities_to_others(worker);
  worker.identities.own = nullptr;
  worker.identities.installed = nullptr;
  worker.active.store(false, std::memory_order_relaxed);
  if (!is_lent) {
    arch::set_thread_word(nullptr);
    os::end_lending();
    os::await_one_more(worker.end_awaited);
    os::end_as_awaited(worker.end_awaited);
    std::free(native);
    os::note_klt_end();
  }
  worker.life.store(Life::not_alive, std::memory_order_release);
  os::futex_wake(worker.life, 1);
  if (is_lent) os::sleep_as_lender(native);
  return nullptr;
}

// On a stack of weft's, which a forked child has as the parent has it. libc gives the stacks of all threads but the
// caller's to those that the child starts, and the caller is whose thread pointer it runs on: what forks here may run
// on a lender's, while a unit keeps the one that this KLT was born with. (Bug: so the stack of a stackless unit or of a
// scheduler's function was handed out under it.) Rejected: units never to have that one, as then each change between a
// scheduler and what has thread-local storage of its own would change the thread pointer. Without memory for it, the
// KLT's own has to do.
void schedule_on_own_stack(Worker& worker) {
  Stack* stack = identities_enabled ? worker.stacks.take_if_there_is(scheduler_stack_bytes) : nullptr;
  if (stack == nullptr) return schedule_worker(worker);
  worker.under_scheduler = stack;
  weft_context_call_on(
      stack->top(), [](void* carried) { schedule_worker(*static_cast<Worker*>(carried)); }, &worker);
  worker.under_scheduler = nullptr;
  worker.stacks.give(stack);
}

void* carry_worker(void* argument) {
  auto worker = static_cast<Worker*>(argument);
  os::Identity* native = worker->identities.own;
  native->thread_pointer = os::begin_lending();
  worker->identities.installed = native;
  worker->mask.changed = false;
  worker->klt.store(os::this_klt(), std::memory_order_relaxed);
  worker->slice.ticker.belong_to(os::this_klt());
  become_active(*worker);
  arch::set_thread_word(worker);
  worker->signal_stack = os::provide_signal_stack();
  if (runtime.hooks.klt_starts != nullptr) runtime.hooks.klt_starts(*worker);
  if (worker->life.load(std::memory_order_relaxed) == Life::being_started) {
    worker->life.store(Life::alive, std::memory_order_release);
    os::futex_wake(worker->life, 1);
  }
  tick_again(*worker);
  schedule_on_own_stack(*worker);
  return end_worker(*worker, native);
}

}  // namespace

void leave_units_to_others(Worker& worker) {
  bool any = false;
  while (Unit* unit = take_newest(worker)) {
    worker.inbox.put(unit);
    any = true;
  }
  // The inbox of an unused slot is still looked at by thieves.
  if (any || !worker.inbox.looks_empty()) notify();
}

int start_carrying(Worker& worker, WorkerUse use) {
  const HeldOff held;
  os::Identity* native = new_identity();
  if (native == nullptr) return ENOMEM;
  worker.identities.own = native;
  worker.use.store(use, std::memory_order_release);  // partner: ask_to_end(), which then finds `life`
  const int error = start_own_lending_klt<carry_worker>(&worker, scheduler_stack_bytes, os::Signals::of_its_work);
  if (error != 0) {
    worker.identities.own = nullptr;
    std::free(native);
  }
  return error;
}

namespace {

// Counts one that is about to be started. False: there are as many as are wanted, or no thread could be had a moment
// ago.
bool count_worker() {
  unsigned started = runtime.started.load(std::memory_order_relaxed);
  do {
    if (started + 1 >= runtime.active.load(std::memory_order_relaxed) || refusal_of_workers.is_recent()) return false;
  } while (!runtime.started.compare_exchange_weak(started, started + 1, std::memory_order_acquire,
                                                  std::memory_order_relaxed));
  return true;
}

unsigned lowest_free_rank() {
  constexpr unsigned bits = 64;
  std::uint64_t taken[most_workers / bits + 1] = {1};  // 0 is none; one more than there are workers may be ending
  for_each_worker([&taken](const Worker& worker) {
    const unsigned rank = worker.rank.load(std::memory_order_relaxed);
    taken[rank / bits] |= std::uint64_t{1} << rank % bits;
  });
  unsigned word = 0;
  while (taken[word] == UINT64_MAX) ++word;
  return word * bits + static_cast<unsigned>(std::countr_one(taken[word]));
}

// And with the rank goes the pool to attend. Not simply the number of those that have been started: one of them may
// have ended, or its KLT have been refused, while later ones live on.
void set_free_rank(Worker& worker) {
  SpinGuard guard(ranks_lock);
  const unsigned rank = lowest_free_rank();
  worker.attended.store(pool_to_attend(rank), std::memory_order_release);
  set_rank(worker, rank);
}

int start_as_next(Worker& worker) {
  worker.life.store(Life::being_started, std::memory_order_relaxed);
  set_free_rank(worker);
  const int error = start_carrying(worker, WorkerUse::of_weft);
  if (error != 0) leave_slot(worker);
  return error;
}

}  // namespace

bool start_another_klt() {
  if (!count_worker()) return false;
  // As a woken sleeper: it is a searcher from the start.
  runtime.searchers.fetch_add(1, std::memory_order_relaxed);
  runtime.sleepers.fetch_sub(1, std::memory_order_relaxed);
  Worker* worker = register_worker();
  const int error = worker != nullptr ? start_as_next(*worker) : ENOMEM;
  if (error == 0) return true;
  if (!told_of_workers.exchange(true, std::memory_order_relaxed))
    base::warn("only %u of %u workers could be started: %s", runtime.started.load(std::memory_order_relaxed),
               runtime.workers.get(), strerror(error));
  // As before, but that somebody may be missing. Whoever came by meanwhile and found all of them started is served by
  // the look at the end.
  refusal_of_workers.note();
  open_place_pools();
  runtime.sleepers.fetch_add(1, std::memory_order_relaxed);
  runtime.started.fetch_sub(1, std::memory_order_relaxed);
  end_counted_search();
  return false;
}

Worker* start_worker(Scheduler* scheduler) {
  Worker* worker = register_worker_of_program();
  if (worker == nullptr) return nullptr;
  replace_scheduler(*worker, scheduler);
  // What an earlier user of the slot has left there is nothing of this one's.
  if (&open_worker(*worker) != worker)
    if (Unit* left = worker->inbox.take_all(); left != nullptr) launch_at(*worker, left);
  worker->claims.ends.store(false, std::memory_order_relaxed);
  worker->life.store(Life::being_started, std::memory_order_relaxed);
  if (start_carrying(*worker, WorkerUse::of_program) == 0) {
    while (worker->life.load(std::memory_order_acquire) == Life::being_started)
      os::futex_wait(worker->life, Life::being_started);
    return worker;
  }
  replace_scheduler(*worker, nullptr);
  leave_slot(*worker);
  return nullptr;
}

namespace {

// One that has been asked to.
void wait_for_end(Worker& worker) {
  os::heavy_fence();
  if (!wake(worker) && !wake_resting_spare(worker)) wake_switched_off(worker);
  for (;;) {
    const std::uint32_t life = worker.life.load(std::memory_order_acquire);
    if (life == Life::not_alive) return;
    os::futex_wait(worker.life, life);
  }
}

// False: its KLT has just been refused.
bool ask_to_end(Worker& worker, os::AwaitedEnds* awaited) {
  SpinGuard guard(slots_lock);
  if (worker.use.load(std::memory_order_acquire) != WorkerUse::of_weft) return false;
  worker.end_awaited = awaited;
  worker.claims.ends.store(true, std::memory_order_seq_cst);
  return true;
}

// False: its KLT has been refused since, and its slot is free.
bool has_ended(Worker& worker) {
  SpinGuard guard(slots_lock);
  worker.end_awaited = nullptr;
  worker.claims.ends.store(false, std::memory_order_relaxed);
  if (worker.use.load(std::memory_order_relaxed) != WorkerUse::none) return true;
  put_among_unused(worker);
  return false;
}

}  // namespace

void end_klt(Worker& worker, void (*release)(Worker&, os::AwaitedEnds*), os::AwaitedEnds* awaited) {
  if (!ask_to_end(worker, awaited)) return;
  wait_for_end(worker);
  if (!has_ended(worker)) return;
  release(worker, awaited);
  set_rank(worker, 0);  // before it is counted out: who starts the next one looks for a free rank
  // As before it was started.
  if (worker.claims.spare) {
    count_out_spare(worker);
  } else {
    runtime.sleepers.fetch_add(1, std::memory_order_relaxed);
    runtime.started.fetch_sub(1, std::memory_order_release);
  }
  leave_slot(worker);
}

void join_worker(Worker& worker) {
  worker.claims.ends.store(true, std::memory_order_seq_cst);
  wait_for_end(worker);
  worker.claims.ends.store(false, std::memory_order_relaxed);
  replace_scheduler(worker, nullptr);
  leave_slot(worker);
}

void reset_worker_klts() {
  runtime.started.store(0, std::memory_order_relaxed);
  refusal_of_workers.forget();
  told_of_workers.store(false, std::memory_order_relaxed);
  ranks_lock.unlock();
}

}  // namespace weft::core
