#include "core/fork.h"

#include <cstdlib>
#include <pthread.h>

#include "base/panic.h"
#include "core/active.h"
#include "core/cpus.h"
#include "core/extras.h"
#include "core/identities.h"
#include "core/klt_pools.h"
#include "core/lend.h"
#include "core/own_scheduler.h"
#include "core/parking_lot.h"
#include "core/place_pools.h"
#include "core/pool/pool.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/roots.h"
#include "core/runtime.h"
#include "core/signal_masks.h"
#include "core/spares.h"
#include "core/timer.h"
#include "core/unit_cache.h"
#include "core/watchdog.h"
#include "core/worker_klts.h"
#include "core/worker_slots.h"
#include "os/barrier.h"
#include "os/distance.h"
#include "os/identity.h"
#include "os/klt.h"
#include "os/storage.h"

namespace weft::core {
namespace {

// fork() takes all of malloc's locks, and may sleep for one with the others in hand. Whoever was left there would keep
// them from everybody, from weft itself and so from the very workers that would have to come to it.
void before_fork() {
  hold_off_fork();
  os::look_up_signals();
}
void after_fork_in_parent() { let_go_after_fork(); }

// The end of a forked unit's function must not lead back to the worker that it was started by: whichever way that end
// takes, it looks at UnitFlag::detailed, of the unit that began or of the one that runs by now.
void look_out_for_end_of(Unit& forked, Worker& worker) {
  forked.flags.fetch_or(UnitFlag::detailed, std::memory_order_relaxed);
  worker.root.unit.flags.fetch_or(UnitFlag::detailed, std::memory_order_relaxed);
}

// Root or unit: what forked goes on as this root, on the stack and the identity that it has, with its values and with
// what it holds.
void go_on_as(Worker& worker, Worker& before, Unit* forked) {
  if (forked == nullptr) return;
  worker.root.known_as = is_root(*forked) ? before.root.known_as : forked;
  worker.root.was_unit = !is_root(*forked) || before.root.was_unit;
  inherit_extras(worker, before, *forked);
  if (worker.root.was_unit) look_out_for_end_of(*forked, worker);
}

// A root's KLT has its own identity's memory registered, in which the kernel notes what it does. Where another one has
// forked there, that memory is free in the child: glibc takes the root's thread for one that is gone. (Bug: the kernel
// ended the child by SIGSEGV once glibc had given that stack back.)
void forget_rseq_of_home(const Worker& before) {
  const os::Identity* home = before.identities.home;
  if (home != nullptr && home->thread_pointer != arch::thread_pointer()) os::unregister_rseq(home->thread_pointer);
}

// In the child there is one KLT, and every other worker is a picture of the past.
void after_fork_in_child() {
  Worker* self = this_worker();
  // A handler of the program's on the KLT of a root that has lent its worker forks for the root, whatever runs on the
  // other KLT. (Bug: its child had that one's signals blocked, and was that one.)
  const bool lent = self != nullptr && was_lent_from_here(*self);
  Unit* forked = nullptr;  // as it stays in a handler over a scheduler
  if (self != nullptr) forked = lent ? &self->root.unit : self->current;
  if (self != nullptr) forget_rseq_of_home(*self);
  runtime.epoch.fetch_add(1, std::memory_order_relaxed);
  reset_slots();
  reset_worker_klts();
  reset_spares();
  look_at_cpus_anew();
  forget_active_workers();
  runtime.searchers.store(0, std::memory_order_relaxed);
  runtime.sleepers.store(static_cast<std::int32_t>(runtime.workers) - 1, std::memory_order_relaxed);
  reset_roots();
  runtime.hands_open.store(false, std::memory_order_relaxed);
  if (self != nullptr) self->hands.visited.store(false, std::memory_order_relaxed);  // the visitor is not here
  if (self != nullptr) self->hands.lock.unlock();
  forget_identities();
  reset_shared_stacks();
  reset_parking_lot();
  reset_shared_units();
  reset_shared_pools();
  make_place_pools();
  reset_scheduler_lookers();
  reset_keys();
  reset_timer();
  reset_watchdog();
  give_back_signals(lent ? nullptr : self);  // before: by what KLTs have blocked it is known who was one
  os::forget_klts();
  os::end_lending();
  reset_ticking();
  reset_klts();
  os::reset_distances();
  os::register_membarrier();
  arch::set_thread_word(nullptr);
  Worker* fresh = nullptr;
  if (self != nullptr) {
    fresh = make_root();
    if (fresh == nullptr) base::panic("no memory for a thread of the program");
    go_on_as(*fresh, *self, forked);
  }
  if (runtime.hooks.starts_afresh != nullptr) runtime.hooks.starts_afresh();
  if (fresh != nullptr && runtime.hooks.forked != nullptr) runtime.hooks.forked(*fresh, *self, forked);
}

// In a child the handlers are called in the order in which they have come. So this one comes while weft is loaded, for
// those of the program's may use it; but after that of an allocator which is not libc's. (Bug: what a handler of the
// program's did that was older than the first region, it did on the parent's workers, and waited for their KLTs.)
[[gnu::constructor]] void watch_forks() {
  void* volatile first = std::malloc(1);
  std::free(first);
  pthread_atfork(nullptr, nullptr, [] {
    if (runtime.is_set_up.load(std::memory_order_acquire)) after_fork_in_child();
  });
}

}  // namespace

void watch_forks_in_parent() {
  pthread_atfork(before_fork, after_fork_in_parent, nullptr);  // the last to come is the first before a fork
}

void end_forked() {
  end_root_extras(*this_worker());
  std::exit(0);
}

void go_on_as_root(Unit& forked) {
  Worker& worker = worker_here();
  worker.root.known_as = &forked;
  worker.root.was_unit = true;
  inherit_extras(worker, forked);
  look_out_for_end_of(forked, worker);
}

}  // namespace weft::core
