#include "core/runtime.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>
#include <unistd.h>

#include "base/panic.h"
#include "core/active.h"
#include "core/cpus.h"
#include "core/create.h"
#include "core/extras.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_switch.h"
#include "core/own_scheduler.h"
#include "core/parking_lot.h"
#include "core/place_pools.h"
#include "core/pool/pool.h"
#include "core/preempt.h"
#include "core/preempt_timer.h"
#include "core/refusal.h"
#include "core/scheduler.h"
#include "core/segment.h"
#include "core/signal_masks.h"
#include "core/timer.h"
#include "core/unit_cache.h"
#include "core/watchdog.h"
#include "core/workers.h"
#include "os/barrier.h"
#include "os/distance.h"
#include "os/fault.h"
#include "os/futex.h"
#include "os/interrupt.h"
#include "os/klt.h"

namespace weft::core {

Runtime runtime;

namespace {

Spinlock registry_lock;    // slots, and the list of those that are free
Spinlock ranks_lock;       // while one is looked for that is free
Worker* unused = nullptr;  // linked by `next_unused`
pthread_key_t root_key;
pthread_once_t started_once = PTHREAD_ONCE_INIT;
std::atomic<bool> is_set_up{false};  // by start_once()
Refusal refusal_of_workers;
std::atomic<bool> told_of_workers{false};
std::atomic<unsigned> spares_made{0};
Refusal refusal_of_spares;

// (Bug: after a handler of the program's had jumped out of one overflow, the next one waited here for the end.)
bool report_overflow(void* address, bool may_go_on) {
  const Stack* stack = stack_in_use();
  if (stack == nullptr || !stack->guard_holds(address)) return false;
  const Unit& unit = *this_worker()->current;
  while (!may_go_on && !base::first_to_end()) ::pause();
  base::warn("stack overflow in %s (stack of %zu KiB); raise %s",
             details(unit).name != nullptr ? details(unit).name : "a unit without a name", stack->usable_size() / 1024,
             runtime.config.stack_setting);
  return true;
}

bool allow_code_on_stack(void* instruction) {
  const Stack* stack = stack_in_use();
  if (stack == nullptr && this_worker() != nullptr) stack = this_worker()->under_scheduler;
  return stack != nullptr && stack->holds(instruction) && os::make_executable(stack->memory);
}

Worker* new_worker() {
  void* memory = nullptr;
  return posix_memalign(&memory, base::cache_line, sizeof(Worker)) == 0 ? new (memory) Worker : nullptr;
}

// A slot that a root left, or a new one; nullptr: no memory.
Worker* register_worker() {
  SpinGuard guard(registry_lock);
  if (Worker* worker = unused; worker != nullptr) {
    unused = worker->next_unused;
    worker->cpu.store(-1, std::memory_order_relaxed);
    worker->until_ready = nullptr;
    worker->until_done = nullptr;  // a thread may end in the midst of a wait, by what a unit on top of it calls
    worker->held_off = 0;
    worker->slice.idle_ticks = 0;
    worker->slice.untimed = false;
    worker->interrupts.sent.store(false, std::memory_order_relaxed);
    worker->interrupts.in_vain.store(0, std::memory_order_relaxed);
    worker->interrupts.tries.store(0, std::memory_order_relaxed);
    return worker;
  }
  const unsigned index = runtime.slots.load(std::memory_order_relaxed);
  if (index == most_worker_slots)
    base::panic("more than %u threads of the program use weft at the same time", most_worker_slots);
  Worker* worker = new_worker();
  if (worker == nullptr) return nullptr;
  worker->index = index;
  worker->random = index * 2654435761U + 1;
  runtime.worker_at[index].store(worker, std::memory_order_release);
  runtime.slots.store(index + 1, std::memory_order_release);
  return worker;
}

// Under the lock. Not one that a forked child's handler had joined for the parent: it is none of the child's.
void put_among_unused(Worker& worker) {
  const bool is_ours = worker.index < runtime.slots.load(std::memory_order_relaxed) &&
                       runtime.worker_at[worker.index].load(std::memory_order_relaxed) == &worker;
  if (!is_ours) return;
  worker.next_unused = unused;
  unused = &worker;
}

// All at once: of one whose KLT could not be started somebody may wait for the end already. To that one the slot is
// left then, for who waits looks at it afterwards, and must not find the next who has it (end_klt()).
void leave_slot(Worker& worker) {
  worker.attended.store(nullptr, std::memory_order_relaxed);
  set_rank(worker, 0);
  bool was_alive = false;
  {
    SpinGuard guard(registry_lock);
    worker.use.store(WorkerUse::none, std::memory_order_relaxed);
    worker.active.store(false, std::memory_order_relaxed);  // who has woken it may have stored that late
    was_alive = worker.life.exchange(0, std::memory_order_release) != 0;
    if (!worker.claims.ends.load(std::memory_order_relaxed)) put_among_unused(worker);
  }
  if (was_alive) os::futex_wake(worker.life, 1);
}

void leave_units_to_others(Worker& worker) {
  bool any = false;
  while (Unit* unit = take_newest(worker)) {
    worker.inbox.put(unit);
    any = true;
  }
  // The inbox of an unused slot is still looked at by thieves.
  if (any || !worker.inbox.looks_empty()) notify();
}

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

// A unit may have kept the identity that the worker's KLT was born with. If it has ended here since, that lies among
// the free ones, and the worker goes back to it.
void change_back_to(Worker& worker, os::Identity* native) {
  os::Identity** link = &worker.identities.spares;
  while (*link != nullptr && *link != native) link = &(*link)->next;
  if (*link == nullptr) return;
  *link = native->next;
  --worker.identities.spare_count;
  install(worker, native);
  if (worker.identities.own != nullptr) give_identity(worker, worker.identities.own);
  worker.identities.own = native;
}

// Somebody has the KLT's own identity, or will take it. So the KLT stays as its lender; and the one that lends what it
// has run on instead ends, for else there would be one more lender with each such worker.
void make_lender_of_this_klt(Worker& worker, os::Identity* native) {
  arch::set_thread_pointer(native->thread_pointer);  // from here on nothing thread-local
  if (worker.identities.own != nullptr) end_identity(worker, worker.identities.own);
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
    std::free(native);
    os::note_klt_end();
  }
  worker.life.store(0, std::memory_order_release);
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
  os::unregister_rseq();
  os::Identity* native = worker->identities.own;
  native->thread_pointer = arch::thread_pointer();
  worker->identities.installed = native;
  worker->mask.changed = false;
  worker->klt.store(os::this_klt(), std::memory_order_relaxed);
  worker->slice.ticker.belong_to(os::this_klt());
  become_active(*worker);
  arch::set_thread_word(worker);
  worker->signal_stack = os::provide_signal_stack();
  if (runtime.hooks.klt_starts != nullptr) runtime.hooks.klt_starts(*worker);
  if (worker->life.load(std::memory_order_relaxed) == 1) {
    worker->life.store(2, std::memory_order_release);
    os::futex_wake(worker->life, 1);
  }
  tick_again(*worker);
  schedule_on_own_stack(*worker);
  return end_worker(*worker, native);
}

// Has a KLT carry the worker; an error of pthread_create(3).
int start_carrying(Worker& worker, WorkerUse use) {
  const HeldOff held;
  os::Identity* native = new_identity();
  if (native == nullptr) return ENOMEM;
  worker.identities.own = native;
  worker.use.store(use, std::memory_order_release);  // partner: ask_to_end(), which then finds `life`
  const int error = with_room(
      [&worker] { return os::start_klt(carry_worker, &worker, scheduler_stack_bytes, os::Signals::of_its_work); });
  if (error != 0) {
    worker.identities.own = nullptr;
    std::free(native);
  }
  return error;
}

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

// Handles of those that were left in the parent: who has one is told that it has ended. (Bug: the child waited for that
// for ever, or gave it a unit.)
void end_workers_of_parent() {
  for_each_worker([](Worker& gone) {
    gone.use.store(WorkerUse::none, std::memory_order_relaxed);
    gone.life.store(0, std::memory_order_relaxed);
  });
}

// In the child there is one KLT, and every other worker is a picture of the past.
void after_fork_in_child() {
  Worker* self = this_worker();
  // A handler of the program's on the KLT of a root that has lent its worker forks for the root, whatever runs on the
  // other KLT. (Bug: its child had that one's signals blocked, and was that one.)
  const bool lent = self != nullptr && was_lent_from_here(*self);
  Unit* forked = nullptr;  // as it stays in a handler over a scheduler
  if (self != nullptr) forked = lent ? &self->root.unit : self->current;
  runtime.epoch.fetch_add(1, std::memory_order_relaxed);
  end_workers_of_parent();
  runtime.slots.store(0, std::memory_order_relaxed);
  runtime.started.store(0, std::memory_order_relaxed);
  look_at_cpus_anew();
  forget_active_workers();
  runtime.searchers.store(0, std::memory_order_relaxed);
  runtime.sleepers.store(static_cast<std::int32_t>(runtime.workers) - 1, std::memory_order_relaxed);
  runtime.roots.store(0, std::memory_order_relaxed);
  runtime.main_has_ended.store(false, std::memory_order_relaxed);
  runtime.hands_open.store(false, std::memory_order_relaxed);
  if (self != nullptr) self->hands.visited.store(false, std::memory_order_relaxed);  // the visitor is not here
  if (self != nullptr) self->hands.lock.unlock();
  spares_made = 0;
  refusal_of_spares.forget();
  refusal_of_workers.forget();
  told_of_workers.store(false, std::memory_order_relaxed);
  registry_lock.unlock();
  ranks_lock.unlock();
  runtime.entrance.unlock();
  unused = nullptr;
  expect_end_of_main();
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
  reset_ticking();
  reset_klts();
  os::reset_distances();
  os::register_membarrier();
  arch::set_thread_word(nullptr);
  Worker* fresh = nullptr;
  if (self != nullptr) {
    fresh = register_worker();
    if (fresh == nullptr || !become_root(*fresh)) base::panic("no memory for a thread of the program");
    pthread_setspecific(root_key, fresh);
    go_on_as(*fresh, *self, forked);
  }
  if (runtime.hooks.starts_afresh != nullptr) runtime.hooks.starts_afresh();
  if (fresh != nullptr && runtime.hooks.forked != nullptr) runtime.hooks.forked(*fresh, *self, forked);
}

unsigned configured_workers() {
  return runtime.config.workers != 0 ? runtime.config.workers : std::min(count_cpus(), most_workers);
}

// A thread that has been cancelled comes to its next cancellation point in the program's code, not in here.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

void start_once() {
  const NotCancelled meanwhile;
  if (runtime.hooks.starts != nullptr) runtime.hooks.starts();
  os::register_membarrier();
  runtime.fp_control = arch::fp_control();
  remember_cpus();
  runtime.workers = configured_workers();
  runtime.active.store(runtime.workers, std::memory_order_relaxed);
  if (runtime.config.stack_size == 0) runtime.config.stack_size = os::default_stack_size();
  runtime.default_stack_class = StackCache::class_of(runtime.config.stack_size);
  runtime.sleepers.store(static_cast<std::int32_t>(runtime.workers) - 1, std::memory_order_relaxed);
  make_place_pools();
  if (pthread_key_create(&root_key, end_root) != 0)
    base::panic("all keys of thread-local storage are in use (PTHREAD_KEYS_MAX)");
  pthread_atfork(before_fork, after_fork_in_parent, nullptr);  // the last to come is the first before a fork
  os::watch_for_faults(report_overflow, allow_code_on_stack);
  enable_preemption();
  enable_watchdog(!sanitizer::active);
  if (preemption_settings.kind != Preemption::none) make_units_slowly();
  obey_commands();
  os::remember_signals();
  is_set_up.store(true, std::memory_order_release);
}

// In a child the handlers are called in the order in which they have come. So this one comes while weft is loaded, for
// those of the program's may use it; but after that of an allocator which is not libc's. (Bug: what a handler of the
// program's did that was older than the first region, it did on the parent's workers, and waited for their KLTs.)
[[gnu::constructor]] void watch_forks() {
  void* volatile first = std::malloc(1);
  std::free(first);
  pthread_atfork(nullptr, nullptr, [] {
    if (is_set_up.load(std::memory_order_acquire)) after_fork_in_child();
  });
}

}  // namespace

void configure(const Config& config) {
  runtime.config = config;
  runtime.spin_ns.store(config.spin_ns, std::memory_order_relaxed);
}

void configure(const Config& config, const Hooks& hooks) {
  configure(config);
  runtime.hooks = hooks;
}

unsigned worker_count() {
  const unsigned workers = runtime.workers;
  return workers != 0 ? workers : configured_workers();
}

Worker* try_enter() {
  pthread_once(&started_once, start_once);
  SpinGuard guard(runtime.entrance);
  Worker* worker = register_worker();
  if (worker == nullptr) return nullptr;
  // Before: it may want memory. (Bug: without, nobody was told when the thread ended, and its slot was never left.)
  if (pthread_setspecific(root_key, worker) != 0 || !become_root(*worker)) {
    pthread_setspecific(root_key, nullptr);
    leave_slot(*worker);
    return nullptr;
  }
  return worker;
}

Worker& enter() {
  Worker* worker = try_enter();
  if (worker == nullptr) base::panic("no memory for a thread of the program");
  return *worker;
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
  worker.life.store(1, std::memory_order_relaxed);
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
  Worker* worker = register_worker();
  if (worker == nullptr) return nullptr;
  replace_scheduler(*worker, scheduler);
  // What an earlier user of the slot has left there is nothing of this one's.
  if (&open_worker(*worker) != worker)
    if (Unit* left = worker->inbox.take_all(); left != nullptr) launch_at(*worker, left);
  worker->claims.ends.store(false, std::memory_order_relaxed);
  worker->life.store(1, std::memory_order_relaxed);
  if (start_carrying(*worker, WorkerUse::of_program) == 0) {
    while (worker->life.load(std::memory_order_acquire) == 1) os::futex_wait(worker->life, 1);
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
  if (!wake(worker) && !wake_spare(worker)) wake_switched_off(worker);
  while (const std::uint32_t life = worker.life.load(std::memory_order_acquire)) os::futex_wait(worker.life, life);
}

// False: its KLT has just been refused.
bool ask_to_end(Worker& worker) {
  SpinGuard guard(registry_lock);
  if (worker.use.load(std::memory_order_acquire) != WorkerUse::of_weft) return false;
  worker.claims.ends.store(true, std::memory_order_seq_cst);
  return true;
}

// False: its KLT has been refused since, and its slot is free.
bool has_ended(Worker& worker) {
  SpinGuard guard(registry_lock);
  worker.claims.ends.store(false, std::memory_order_relaxed);
  if (worker.use.load(std::memory_order_relaxed) != WorkerUse::none) return true;
  put_among_unused(worker);
  return false;
}

}  // namespace

void end_klt(Worker& worker, void (*release)(Worker&)) {
  if (!ask_to_end(worker)) return;
  wait_for_end(worker);
  if (!has_ended(worker)) return;
  release(worker);
  set_rank(worker, 0);  // before it is counted out: who starts the next one looks for a free rank
  // As before it was started.
  if (worker.claims.spare) {
    worker.claims.spare = false;
    spares_made.fetch_sub(1, std::memory_order_relaxed);
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

// Both stores under the lock: from the first on the worker may run, and end. So the second comes before its slot is
// left. (Bug: it came when a root had the slot, which counted as awake for as long as it lived.)
bool wake_spare(Worker& worker) {
  {
    SpinGuard guard(registry_lock);
    std::uint32_t resting = Parked::spare_rests;
    if (!worker.parked.compare_exchange_strong(resting, Parked::awake)) return false;
    worker.active.store(true, std::memory_order_relaxed);  // counts from now on
  }
  os::futex_wake(worker.parked, 1);
  return true;
}

namespace {

// Counts one that is about to be made. False: there are enough, or no thread could be had a moment ago.
bool count_spare() {
  constexpr unsigned most_spares = 512;
  if (refusal_of_spares.is_recent()) return false;
  unsigned made = spares_made.load(std::memory_order_relaxed);
  do {
    if (made >= most_spares) return false;
  } while (!spares_made.compare_exchange_weak(made, made + 1, std::memory_order_relaxed));
  return true;
}

}  // namespace

Worker* wake_spare() {
  Worker* resting = find_worker([](Worker& worker) {
    return worker.parked.load(std::memory_order_relaxed) == Parked::spare_rests && wake_spare(worker);
  });
  if (resting != nullptr) return resting;
  if (!count_spare()) return nullptr;
  Worker* worker = register_worker();
  if (worker == nullptr) {
    spares_made.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  worker->claims.spare = true;
  worker->life.store(1, std::memory_order_relaxed);
  worker->active.store(true, std::memory_order_relaxed);
  runtime.searchers.fetch_add(1, std::memory_order_relaxed);
  if (start_carrying(*worker, WorkerUse::of_weft) == 0) return worker;
  refusal_of_spares.note();
  open_place_pools();
  worker->active.store(false, std::memory_order_relaxed);
  worker->claims.spare = false;
  leave_slot(*worker);
  spares_made.fetch_sub(1, std::memory_order_relaxed);
  end_counted_search();
  return nullptr;
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

Counters sum_counters() {
  Counters sum;
  for_each_worker([&sum](const Worker& worker) {
    const Counters& counters = worker.counters;
    sum.units_started +=
        worker.scheduling_points.load(std::memory_order_relaxed) - worker.units_resumed.load(std::memory_order_relaxed);
    sum.promoted_to_stack += counters.promoted_to_stack;
    sum.promoted_to_identity += counters.promoted_to_identity;
    sum.steals += counters.steals;
    sum.sleeps += counters.sleeps;
    sum.preempted += counters.preempted;
  });
  return sum;
}

}  // namespace weft::core
