#include "core/roots.h"

#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

#include "base/panic.h"
#include "core/extras.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_switch.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/preempt_timer.h"
#include "core/watchdog.h"
#include "core/worker_klts.h"
#include "core/worker_slots.h"
#include "os/barrier.h"
#include "os/fault.h"
#include "os/interrupt.h"
#include "os/klt.h"

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

// The KLT of a root ends.
void end_root(void* argument) {
  auto worker = static_cast<Worker*>(argument);
  if (this_worker() != worker) return;
  worker->attended.store(nullptr, std::memory_order_relaxed);
  if (runtime.hooks.root_ends != nullptr) runtime.hooks.root_ends(*worker);
  end_root_extras(*worker);  // may run units
  end_ticking(*worker);
  leave_klts_to_others(*worker);
  replace_scheduler(*worker, nullptr);
  leave_units_to_others(*worker);
  if (worker->identities.own != nullptr) {
    give_identity(*worker, worker->identities.own);
    worker->identities.own = nullptr;
  }
  leave_identities_to_others(*worker);
  os::withdraw_signal_stack(worker->signal_stack);
  worker->signal_stack = nullptr;
  os::Identity* const identity = worker->root.unit.details.identity;
  worker->root.unit.details.identity = worker->identities.home = nullptr;
  worker->identities.installed = nullptr;
  worker->current = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);  // a handler that comes from here on looks at none of it
  std::free(identity);
  become_inactive(*worker);
  arch::set_thread_word(nullptr);
  const bool is_last = runtime.roots.fetch_sub(1, std::memory_order_relaxed) == 1;
  // One that has never been a root, and was not there when this library was loaded, tells nobody when it ends.
  if (os::this_klt() == getpid() || (is_last && os::klt_activity(getpid()) == os::KltActivity::gone))
    note_end_of_main();
  leave_slot(*worker);
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
  details(unit).identity->thread_pointer = arch::thread_pointer();
  worker.identities.installed = worker.identities.home = details(unit).identity;
  worker.identities.home->has_mask = worker.mask.changed = false;
  worker.root.known_as = &unit;
  worker.root.was_unit = false;
  worker.current = &unit;
  worker.use.store(WorkerUse::root, std::memory_order_relaxed);
  worker.klt.store(os::this_klt(), std::memory_order_relaxed);
  worker.slice.ticker.belong_to(os::this_klt());
  worker.signal_stack = os::provide_signal_stack();
  if (os::interrupt_signal() != 0) os::block_interrupt(false);  // the program may have blocked all there are
  arch::set_thread_word(&worker);
  tick_again(worker);
  return true;
}

}  // namespace

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
  runtime.entrance.unlock();
  expect_end_of_main();
}

}  // namespace weft::core
