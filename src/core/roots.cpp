#include "core/roots.h"

#include <algorithm>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "base/panic.h"
#include "core/extras.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_pools.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/watchdog.h"
#include "core/worker_klts.h"
#include "core/worker_slots.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/fault.h"
#include "os/identity.h"
#include "os/interrupt.h"
#include "os/klt.h"
#include "os/storage.h"

namespace weft::core {
namespace {

pthread_key_t root_key;

void note_end_of_main() {
  runtime.main_has_ended.store(true, std::memory_order_relaxed);
  os::light_fence();  // partner: the watchdog, before it rests
  watch();
}

// Main need not be a root: it may have used nothing of weft, and end after all that have.
pthread_key_t key_of_main;
bool has_key_of_main = false;

void expect_end_of_main() {
  if (has_key_of_main && os::this_klt() == getpid()) pthread_setspecific(key_of_main, &runtime);
}

[[gnu::constructor]] void look_for_main() {
  const auto end = [](void*) { note_end_of_main(); };
  has_key_of_main = pthread_key_create(&key_of_main, end) == 0;
  expect_end_of_main();
}

// The calling KLT, a root, is none from here on, but still has its slot. `end_values`: those of its keys.
void cease_to_be_root(Worker& worker, void (*end_values)(Worker&)) {
  worker.attended.store(nullptr, std::memory_order_relaxed);
  if (runtime.hooks.root_ends != nullptr) runtime.hooks.root_ends(worker);
  end_values(worker);
  end_ticking(worker);
  leave_klts_to_others(worker);
  replace_scheduler(worker, nullptr);
  leave_units_to_others(worker);
  if (worker.identities.own != nullptr) {
    give_identity(worker, worker.identities.own);
    worker.identities.own = nullptr;
  }
  leave_identities_to_others(worker);
  os::withdraw_signal_stack(worker.signal_stack);
  worker.signal_stack = nullptr;
  os::Identity* const identity = worker.root.unit.details.identity;
  worker.root.unit.details.identity = worker.identities.home = nullptr;
  worker.identities.installed = nullptr;
  worker.current = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler that comes from here on looks at none of it
  std::free(identity);
  become_inactive(worker);
  arch::set_thread_word(nullptr);
}

// The KLT of a root ends.
void end_root(void* argument) {
  auto worker = static_cast<Worker*>(argument);
  const Worker* here = this_worker();
  if (here == nullptr) return;
  const bool in_unit = here->current != nullptr && !is_root(*here->current);
  if (here != worker || in_unit) os::end_for_ended_thread();
  cease_to_be_root(*worker, end_root_extras);  // which may run units
  const bool is_last = runtime.roots.fetch_sub(1, std::memory_order_relaxed) == 1;
  // One that has never been a root, and was not there when this library was loaded, tells nobody when it ends.
  if (os::this_klt() == getpid() || (is_last && os::klt_activity(getpid()) == os::KltActivity::gone))
    note_end_of_main();
  leave_slot(*worker);
}

// The KLT on which the worker's root runs is the caller.
void run_here(Worker& worker) {
  Unit& unit = worker.root.unit;
  details(unit).identity->thread_pointer = arch::thread_pointer();
  worker.identities.installed = worker.identities.home = details(unit).identity;
  worker.identities.home->has_mask = worker.mask.changed = false;
  worker.current = &unit;
  worker.klt.store(os::this_klt(), std::memory_order_relaxed);
}

// False: no memory.
bool become_root(Worker& worker) {
  if (worker.root.unit.details.identity == nullptr) worker.root.unit.details.identity = new_identity();
  if (worker.root.unit.details.identity == nullptr) return false;
  runtime.roots.fetch_add(1, std::memory_order_relaxed);
  Unit& unit = worker.root.unit;
  unit.flags.store(UnitFlag::root_of_klt, std::memory_order_relaxed);
  worker.attended.store(pool_to_attend(0), std::memory_order_release);
  details(unit).keeps_identity = true;
  details(unit).held_off = 0;  // a thread that had the slot before may have ended so
  unit.place = static_cast<std::uint16_t>(worker.index);
  details(unit).name = "a thread of the program";
  unit.state.store(UnitState::running, std::memory_order_relaxed);
  worker.root.known_as = &unit;
  worker.root.was_unit = false;
  const bool borrowed = os::is_on_borrowed_storage();
  worker.root.borrowed.store(borrowed, std::memory_order_relaxed);
  if (borrowed || os::is_on_storage_to_lend()) runtime.roots_may_move.store(true, std::memory_order_relaxed);
  worker.use.store(WorkerUse::root, std::memory_order_relaxed);
  run_here(worker);
  worker.slice.ticker.belong_to(os::this_klt());
  worker.signal_stack = os::provide_signal_stack();
  if (os::interrupt_signal() != 0) os::block_interrupt(false);  // the program may have blocked all there are
  arch::set_thread_word(&worker);
  tick_again(worker);
  return true;
}

// ---------------------------------------------------------------- lost roots

// A KLT that comes to weft in the last round of the destructors of its keys (PTHREAD_DESTRUCTOR_ITERATIONS) is a root
// whose end nobody is told of, and so is one that ends past libc. (Bug: each kept its slot, and the memory of that, for
// ever.) Who would need a new slot, when there are twice as many as at the last look, looks for them, and ends them in
// their place. That costs at most two system calls for each new slot, and nothing while some are left for whoever comes
// next. Rejected: to mark roots that come back after end_root(); one may also come for the first time so late.
constexpr unsigned least_slots_at_look = 32;
std::atomic<unsigned> slots_at_look{least_slots_at_look};

// Not one on borrowed storage: whoever lent that ends it. (Bug: one was ended that lived on, on another KLT.) `klt`,
// which the caller has read, is compared again: it is changed before the word that is read here says that the storage
// is the KLT's own (follow_root).
//
// Where another KLT has got its number, that is not seen until a later look.
bool is_lost(const Worker& worker, int klt) {
  return klt != 0 && worker.use.load(std::memory_order_relaxed) == WorkerUse::root &&
         !worker.root.borrowed.load(std::memory_order_acquire) && os::is_gone(klt);
}

// `klt`, which is gone, has ended outside of all units: only then there is nothing on top of the root, and the worker
// is not lent. Nor was it lent to that one, and is back: then it says first who carries it now (klt_switch.cpp,
// lend()).
bool has_ended_at_rest(const Worker& worker, int klt) {
  return worker.carrier.load(std::memory_order_acquire) == nullptr &&
         worker.klt.load(std::memory_order_relaxed) == klt && worker.current == &worker.root.unit &&
         worker.identities.home != nullptr;
}

// While both locks are held nobody becomes a root or has the slot next: who had that number, and had not left its slot,
// is gone.
bool take_over(Worker& worker) {
  SpinGuard entrance(runtime.entrance);
  SpinGuard guard(slots_lock);
  const int klt = worker.klt.load(std::memory_order_acquire);
  if (!is_lost(worker, klt)) return false;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // partner: the end of the KLT, in the kernel
  if (!has_ended_at_rest(worker, klt)) return false;
  run_here(worker);  // so that no other takes it over
  return true;
}

// By a KLT that has no worker. Destructors of values that are left are not called, as libc calls none after the last
// round: the caller may hold what they wait for.
void end_in_its_place(Worker& worker) {
  worker.held_off = 1;
  arch::set_thread_word(&worker);
  cease_to_be_root(worker, forget_root_extras);
  runtime.roots.fetch_sub(1, std::memory_order_relaxed);
  leave_slot(worker);
}

void end_lost_roots() {
  const unsigned slots = runtime.slots.load(std::memory_order_relaxed);
  unsigned enough = slots_at_look.load(std::memory_order_relaxed);
  if (slots < enough || has_unused_slot()) return;
  if (!slots_at_look.compare_exchange_strong(enough, std::min(2 * slots, most_worker_slots), std::memory_order_relaxed))
    return;  // another looks
  unsigned found = 0;
  for_each_worker([&found](Worker& worker) {
    if (!is_lost(worker, worker.klt.load(std::memory_order_acquire)) || !take_over(worker)) return;
    end_in_its_place(worker);
    ++found;
  });
  if (2 * found >= slots) slots_at_look.store(enough, std::memory_order_relaxed);
}

}  // namespace

void note_klt_of_root(Worker& worker, int before) {
  const int klt = os::this_klt();
  if (klt == before) {
    worker.klt.store(klt, std::memory_order_release);
    return;
  }
  // Partners of the releases: is_lost(), take_over().
  worker.root.borrowed.store(true, std::memory_order_relaxed);
  worker.klt.store(klt, std::memory_order_release);
  worker.root.borrowed.store(os::is_on_borrowed_storage(), std::memory_order_release);
  worker.slice.ticker.belong_to(klt);
}

// The signal may be blocked also where the KLT is the same: another root that slept there with the signal blocked, in
// lend(), was made to leave it.
void follow_root_slowly(Worker& worker) {
  const HeldOff held(&worker);
  note_klt_of_root(worker, worker.klt.load(std::memory_order_relaxed));
  if (os::interrupt_signal() != 0) os::block_interrupt(false);
  tick_again(worker);
}

void expect_roots() {
  if (pthread_key_create(&root_key, end_root) != 0)
    base::panic("all keys of thread-local storage are in use (PTHREAD_KEYS_MAX)");
}

Worker* make_root() {
  Worker* worker = register_worker();
  if (worker == nullptr) return nullptr;
  // Before: it may want memory. (Bug: without, nobody was told when the thread ended, and its slot was never left.)
  if (pthread_setspecific(root_key, worker) == 0 && become_root(*worker)) return worker;
  pthread_setspecific(root_key, nullptr);
  leave_slot(*worker);
  return nullptr;
}

Worker* try_enter() {
  start_runtime();
  end_lost_roots();
  SpinGuard guard(runtime.entrance);
  return make_root();
}

Worker& enter() {
  Worker* worker = try_enter();
  if (worker == nullptr && runtime.slots.load(std::memory_order_relaxed) == most_worker_slots)
    base::panic("more than %u threads of the program use weft at the same time", most_worker_slots);
  if (worker == nullptr) base::panic("no memory for a thread of the program");
  return *worker;
}

void reset_roots() {
  runtime.roots.store(0, std::memory_order_relaxed);
  runtime.main_has_ended.store(false, std::memory_order_relaxed);
  slots_at_look.store(least_slots_at_look, std::memory_order_relaxed);
  runtime.entrance.unlock();
  expect_end_of_main();
}

}  // namespace weft::core
