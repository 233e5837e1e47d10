#include "core/worker_slots.h"

#include <cstdlib>
#include <new>

#include "base/panic.h"
#include "core/active.h"
#include "core/workers.h"
#include "os/futex.h"

namespace weft::core {

Spinlock slots_lock;

namespace {

// Linked by `next_unused`.
Worker* unused = nullptr;
Worker* unused_of_program = nullptr;  // left by workers that the program had made

Worker*& unused_like(const Worker& worker) { return worker.slot_of_program ? unused_of_program : unused; }

Worker* new_worker() {
  void* memory = nullptr;
  return posix_memalign(&memory, base::cache_line, sizeof(Worker)) == 0 ? new (memory) Worker : nullptr;
}

// Handles of those that were left in the parent: who has one is told that it has ended. (Bug: the child waited for that
// for ever, or gave it a unit.)
void end_workers_of_parent() {
  for_each_worker([](Worker& gone) {
    gone.use.store(WorkerUse::none, std::memory_order_relaxed);
    gone.life.store(Life::not_alive, std::memory_order_relaxed);
  });
}

Worker* take_unused(Worker*& list) {
  SpinGuard guard(slots_lock);
  Worker* worker = list;
  if (worker != nullptr) list = worker->next_unused;
  return worker;
}

// False: there are as many as there may be.
bool give_new_slot(Worker& worker) {
  SpinGuard guard(slots_lock);
  const unsigned index = runtime.slots.load(std::memory_order_relaxed);
  if (index == most_worker_slots) return false;
  worker.index = index;
  worker.random = index * 2654435761U + 1;
  runtime.worker_at[index].store(&worker, std::memory_order_release);
  runtime.slots.store(index + 1, std::memory_order_release);
  return true;
}

// A thread may have ended in the midst of a wait, by what a unit on top of it called.
void forget_last_user(Worker& worker) {
  worker.cpu.store(-1, std::memory_order_relaxed);
  worker.until_ready = nullptr;
  worker.until_done = nullptr;
  worker.held_off = 0;
  worker.hands.top.store(nullptr, std::memory_order_relaxed);
  worker.lends_within.store(nullptr, std::memory_order_relaxed);
  worker.claims.frame_returns = true;
  worker.in_hand = 0;
  worker.served = nullptr;
  worker.slice.idle_ticks = 0;
  worker.slice.untimed = false;
  worker.slice.early = false;
  worker.slice.unanswered.store(0, std::memory_order_relaxed);
  worker.klts.changes = (worker.klts.changes + 1) & ~1U;  // none is under way
  worker.interrupts.sent.store(false, std::memory_order_relaxed);
  worker.interrupts.in_vain.store(0, std::memory_order_relaxed);
  worker.interrupts.tries.store(0, std::memory_order_relaxed);
}

Worker* make_slot() {
  Worker* worker = new_worker();
  if (worker == nullptr || give_new_slot(*worker)) return worker;
  worker->~Worker();
  std::free(worker);
  return nullptr;
}

Worker* reuse_slot(Worker*& list) {
  Worker* worker = take_unused(list);
  if (worker != nullptr) forget_last_user(*worker);
  return worker;
}

Worker* register_as(bool of_program, Worker* worker) {
  if (worker != nullptr) worker->slot_of_program = of_program;
  return worker;
}

}  // namespace

Worker* register_worker() {
  Worker* worker = reuse_slot(unused);
  if (worker == nullptr) worker = reuse_slot(unused_of_program);
  if (worker == nullptr) worker = make_slot();
  return register_as(false, worker);
}

// (Bug: it had any. Where weft had no worker of its own, WEFT_NUM_WORKERS=1, it ran what a thread that had ended had
// left there, and nobody stood in for a unit of those that slept in the kernel.)
Worker* register_worker_of_program() {
  Worker* worker = reuse_slot(unused_of_program);
  if (worker == nullptr) worker = make_slot();
  if (worker == nullptr) worker = reuse_slot(unused);
  return register_as(true, worker);
}

bool has_unused_slot() {
  SpinGuard guard(slots_lock);
  return unused != nullptr || unused_of_program != nullptr;
}

// Not one that a forked child's handler had joined for the parent: it is none of the child's.
void put_among_unused(Worker& worker) {
  const bool is_ours = worker.index < runtime.slots.load(std::memory_order_relaxed) &&
                       runtime.worker_at[worker.index].load(std::memory_order_relaxed) == &worker;
  if (!is_ours) return;
  Worker*& list = unused_like(worker);
  worker.next_unused = list;
  list = &worker;
}

// All at once: of one whose KLT could not be started somebody may wait for the end already. To that one the slot is
// left then, for who waits looks at it afterwards, and must not find the next who has it (end_klt()).
void leave_slot(Worker& worker) {
  worker.attended.store(nullptr, std::memory_order_relaxed);
  worker.klt.store(0, std::memory_order_relaxed);  // its number may soon be another thread's
  set_rank(worker, 0);
  bool was_alive = false;
  {
    SpinGuard guard(slots_lock);
    worker.use.store(WorkerUse::none, std::memory_order_relaxed);
    worker.active.store(false, std::memory_order_relaxed);  // who has woken it may have stored that late
    was_alive = worker.life.exchange(Life::not_alive, std::memory_order_release) != Life::not_alive;
    if (!worker.claims.ends.load(std::memory_order_relaxed)) put_among_unused(worker);
  }
  if (was_alive) os::futex_wake(worker.life, 1);
}

void reset_slots() {
  end_workers_of_parent();
  runtime.slots.store(0, std::memory_order_relaxed);
  slots_lock.unlock();
  unused = unused_of_program = nullptr;
}

}  // namespace weft::core
