// The scheduler: what a worker does when nothing tells it what to do.
//
// Order of preference: units that are ready here (deque, then inbox); members of shares that anybody
// publishes; units that are ready elsewhere (find.cpp). A worker that finds nothing searches for a
// while, then sleeps (idle.cpp).
//
// A root that waits lends its KLT, but only to what lies within the share that it belongs to: its team
// and the teams inside that. Whatever such a unit waits for in the kernel (a lock of libc's, the end of a
// thread), the root would have to wait for as well. Any other unit could wait there for something that
// only this root can do, on this KLT, for ever: to release a mutex that it holds across the region, or
// Python's global lock. And a root that is interrupted in the midst of its own code, or that yields, may
// hold anything: it lends its KLT to nobody, but leaves its CPU to another KLT until it is its turn again.
//
// Worker::handed_on is in no pool: nobody else can find it, nor be woken for it. So it is there only between a unit
// that leaves, or ends, and the next one that the same loop runs. A frame that does not go on (its wait is over, a root
// that has yielded goes back to its own code), a spare worker before it rests, and whoever runs something else first,
// put it back.
#include "core/scheduler.h"

#include <algorithm>
#include <utility>

#include "core/active.h"
#include "core/create.h"
#include "core/find.h"
#include "core/fork.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/klt_switch.h"
#include "core/lend.h"
#include "core/own_scheduler.h"
#include "core/place_pools.h"
#include "core/pool/pool.h"
#include "core/preempt.h"
#include "core/slices.h"
#include "core/spares.h"
#include "core/technique/pass.h"
#include "core/technique/start.h"
#include "core/watchdog.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/frames_below.h"
#include "os/futex.h"

namespace weft::core {
namespace {

// ---------------------------------------------------------------- running

// A root has stepped aside, and is come to. That may be at once: so others have their turn before, those of other
// workers where there are none here, and meanwhile the root stands in a queue where anybody finds it.
Event give_turn(Worker& worker, Worker& home) {
  if (home.root.times_put_off != 0 && os::now_ns() < home.root.due) {
    --home.root.times_put_off;
    if (worker.handed_on == nullptr && worker.deque.looks_empty() && worker.inbox.looks_empty())
      worker.turns.of_what_was_left = worker.turns.elsewhere = true;
    put_behind_all_others(worker, home.root.unit);
    notify();  // it may lie at another worker (open_worker)
    return Event::yielded;
  }
  std::uint32_t parked = Parked::for_its_turn;
  if (home.parked.compare_exchange_strong(parked, Parked::awake, std::memory_order_acq_rel))
    os::futex_wake(home.parked, 1);
  return Event::finished;
}

inline bool is_cancelled_before_start(const Unit& unit, unsigned flags) {
  constexpr unsigned never_starts = UnitFlag::cancelled | UnitFlag::free_standing;
  return (flags & never_starts) == never_starts && !unit.departed;
}

// A unit that would only sleep on, in the kernel, keeps the worker for a slice in vain; and where a thousand want the
// same lock, its holder comes to go on each thousandth slice. So the others have their turn first. Only when all of
// them sleep too (the first comes again; or has been stolen), one has the KLT: meanwhile the CPU is free for whoever
// may wake them.
bool is_passed_over(Worker& worker, const Unit& unit) {
  if (!has_flag(unit, UnitFlag::holds_klt) || worker.klts.lent_here != nullptr)
    return false;  // or the worker goes to it
  constexpr unsigned most = 4096;
  if (!would_sleep_on(unit) || worker.turns.first_passed_over == &unit || worker.turns.passed_over == most) {
    worker.turns.first_passed_over = nullptr;
    worker.turns.passed_over = 0;
    return false;
  }
  if (worker.turns.passed_over++ == 0) worker.turns.first_passed_over = &unit;
  return true;
}

// What is not a unit that any KLT can run.
[[gnu::noinline]] Event run_specially(Worker& worker, Unit& unit) {
  if (is_root(unit)) return give_turn(worker, worker_of(unit));
  if (is_cancelled_before_start(unit, unit.flags.load(std::memory_order_relaxed))) {
    end_free_standing(worker, unit);
    return Event::finished;
  }
  if (is_passed_over(worker, unit)) {
    put_back_passed_over(worker, unit);
    return Event::yielded;
  }
  bool lent = false;
  const Event event = run_on_klt(worker, unit, lent);
  if (lent || event == Event::returned) return Event::returned;
  settle_current(worker, event);
  return event;
}

// In the loops themselves, so that units come back right there: each return on the way would be predicted wrong.
[[gnu::always_inline]] inline Event run(Worker& worker, Unit& unit) {
  constexpr unsigned not_plain = UnitFlag::root_of_klt | UnitFlag::cancelled | UnitFlag::wants_identity;
  const unsigned flags = unit.flags.load(std::memory_order_relaxed);
  if ((flags & (not_plain | UnitFlag::free_standing)) != UnitFlag::free_standing) [[unlikely]] {
    if ((flags & (UnitFlag::root_of_klt | UnitFlag::switches_klt | UnitFlag::wants_klt)) != 0)
      return run_specially(worker, unit);
    if (is_cancelled_before_start(unit, flags)) {
      end_free_standing(worker, unit);
      return Event::finished;
    }
    install_for(worker, unit);
    take_place(worker, unit);
  }
  Event event = unit.departed ? continue_unit(worker, unit) : start_unit(worker, unit);
  if (event == Event::returned && !worker.claims.frame_returns) event = run_in_a_row(worker);
  if (event == Event::returned) return event;
  settle_current(worker, event);  // perhaps of another, started after it
  return event;
}

void run_found(Worker& worker, const Found& found) {
  if (found.unit != nullptr) {
    if (run(worker, *found.unit) == Event::yielded) keep_time(worker);
    return;
  }
  if (found.run.count != 0) {
    ++worker.counters.steals;
    found.share->run(*found.share, worker, found.run);
    return;
  }
  if (found.share->take(*found.share, worker)) ++worker.counters.steals;
}

// What was taken out of a pool and is not run here next after all.
void put_back_what_was_handed_on(Worker& worker) {
  if (Unit* unit = worker.handed_on; unit != nullptr) {
    worker.handed_on = nullptr;
    put_ready(worker, *unit);
  }
}

// False: nothing was. (Bug: what was found spun for a unit that had been handed on, and that nobody else could have.)
[[gnu::noinline]] bool run_what_was_left(Worker& worker) {
  worker.turns.of_what_was_left = false;
  const bool elsewhere = std::exchange(worker.turns.elsewhere, false);
  if (worker.scheduler() != nullptr) return false;
  const Found found = elsewhere ? search(worker, Sought::anything) : search_what_was_left(worker);
  if (!found) return false;
  put_back_what_was_handed_on(worker);
  keep_time(worker);
  run_found(worker, found);
  return true;
}

// Whatever else a search is for: a worker with a scheduler of its own has only the pools of that.
Found search_elsewhere(Worker& worker, Sought sought = Sought::anything) {
  return worker.scheduler() != nullptr ? Found{} : search(worker, sought);
}

void run_custom_scheduler(Worker& worker) {
  worker.scheduler_code.technique = Technique::stackless;
  worker.current = &worker.scheduler_code;
  Scheduler& scheduler = *worker.scheduler();
  const Scheduler* below = std::exchange(worker.custom_scheduler, &scheduler);
  scheduler.users.fetch_add(1, std::memory_order_relaxed);  // the worker may have another one before this returns
  scheduler.run();
  if (this_worker() != &worker) end_forked();
  scheduler.users.fetch_sub(1, std::memory_order_release);
  worker.custom_scheduler = below;
  worker.current = nullptr;
}

// Units that yield in turn here must not keep the worker from what others offer, or have left behind (rest()). But the
// one that a unit has yielded to comes next.
bool is_time_to_look_around(Worker& worker) {
  const bool was_time = worker.turns.direct_switches == 0;
  const bool is_time = count_direct_switch(worker);
  return (was_time || is_time) && worker.handed_on == nullptr;
}

// A unit that yields waits for something: before it comes again, or now and then at least, what others offer. One whose
// slice is over does not. Where several take turns so, the units of others stay where they are, but now and then: else
// two workers with as many each would take them from each other all the time.
Found look_around(Worker& worker) {
  const bool more = !worker.deque.looks_empty() || worker.handed_on != nullptr;
  const bool by_time = worker.counters.preempted != worker.turns.preempted_before;
  worker.turns.preempted_before = worker.counters.preempted;
  const bool now_and_then = is_time_to_look_around(worker);
  ++worker.turns.yielded;
  if (more && !now_and_then) return {};
  const bool several = worker.turns.yielded > 1;
  worker.turns.yielded = 0;
  return search_elsewhere(worker, by_time && several && !now_and_then ? Sought::share : Sought::anything);
}

// Units that yield in turn keep the deque, or the pool of a place, from ever being empty, and what has come into the
// inbox has its turn before they come again: a root that has stepped aside. (Where others visit the deque they go
// through the inbox themselves.)
void take_in_what_came(Worker& worker) {
  if (worker.inbox.looks_empty() || worker.handed_on != nullptr || worker.scheduler() != nullptr) return;
  const bool goes_round = worker.privacy.is_private() || worker.attended.load(std::memory_order_relaxed) != nullptr;
  if (goes_round) worker.handed_on = next_handed_in(worker);
}

// Units that yield to each other must not keep the others here waiting for ever: now and then one of these comes before
// the one that was yielded to. (A private pool has promised to do what they say.)
void take_turns_with_handed_on(Worker& worker) {
  if (worker.handed_on == nullptr || worker.scheduler() != nullptr || worker.turns.direct_switches != 0) return;
  Unit& next = *std::exchange(worker.handed_on, nullptr);
  Unit* other = next_handed_in(worker);
  if (other == nullptr) other = next_local(worker);
  put_ready(worker, next);
  worker.handed_on = other;
}

// (Bug: out of the pools of a scheduler of the program's, which a unit had just given the worker, one was handed on,
// and was in no pool when the function of that scheduler looked for it.)
void go_on_after_yield(Worker& worker) {
  take_turns_with_handed_on(worker);
  take_in_what_came(worker);
  if (Found found = look_around(worker)) {
    keep_time(worker);
    run_found(worker, found);
  } else if (worker.slice.untimed) [[unlikely]] {
    if (!has_custom_function(worker)) worker.handed_on = next_ready(worker);
    if (worker.handed_on == nullptr || !has_flag(*worker.handed_on, UnitFlag::holds_klt)) keep_time(worker);
  }
}

// Where it was lent: so it does not rest with a KLT that others may need (lend.h).
bool is_carried_by_other(const Worker& worker) { return worker.carrier.load(std::memory_order_relaxed) != nullptr; }

// A spare that has been given pools of its own is woken for these as any other.
bool may_rest(const Worker& worker) { return worker.claims.spare && worker.scheduler() == nullptr; }

// Runs whatever there is until the worker's wait is over (Worker::until_ready, until_done).
void schedule(Worker& worker, bool counted_as_searcher) {
  SchedulerFrame frame(worker, true);
  worker.current = nullptr;
  install_home(worker);
  Searching searching(worker);
  if (counted_as_searcher) searching.adopt();
  while (!is_over(worker)) {
    if (may_rest(worker) && too_many_awake(worker) && !worker.claims.ends.load(std::memory_order_relaxed)) {
      put_back_what_was_handed_on(worker);
      searching.end();
      notify();  // what is left here, others take
      if (is_carried_by_other(worker)) return;
      rest(worker);
      searching.begin();
    }
    if (has_custom_function(worker)) {
      searching.end();
      run_custom_scheduler(worker);
      if (scheduler_stops(worker)) return;
      continue;
    }
    if (worker.turns.of_what_was_left) [[unlikely]] {
      searching.found();
      if (run_what_was_left(worker)) continue;
    }
    // Looked at first: what was put there before somebody asked the worker to end is found then.
    const bool ends = worker.claims.ends.load(std::memory_order_acquire);
    if (Unit* unit = next_ready(worker); unit != nullptr) {
      searching.found();
      const Event event = run(worker, *unit);
      if (event == Event::yielded) go_on_after_yield(worker);
      continue;
    }
    if (ends) break;
    if (!searching.on()) searching.begin();
    if (Found found = search_elsewhere(worker)) {
      searching.found();
      run_found(worker, found);
      continue;
    }
    if (!searching.exhausted()) continue;
    if (may_rest(worker)) {
      searching.end();
      if (is_carried_by_other(worker)) return;
      rest(worker);
      searching.begin();
      continue;
    }
    if (worker.scheduler() != nullptr && !worker.scheduler()->sleeps())
      os::give_up_cpu();
    else
      searching.sleep();
  }
  searching.end();
}

// To a root, which has lent its KLT.
void come_back(Worker& worker, Unit& root) {
  if (identities_enabled) install(worker, details(root).identity);
  take_place(worker, root);
}

// A root's worker, while the root waits and others run there.
class InUse {
 public:
  explicit InUse(Worker& worker) : worker_(worker), before_(worker.active.load(std::memory_order_relaxed)) {
    follow_root(worker);
    if (!before_) become_active(worker);
  }
  ~InUse() {
    if (!before_) become_inactive(worker_);
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  Worker& worker_;
  const bool before_;
};

// Lends the worker for it, perhaps (klt_switch.h).
bool may_be_lent_for(const Worker& worker, const Unit& unit) {
  constexpr unsigned kinds = UnitFlag::switches_klt | UnitFlag::wants_klt;
  return (unit.flags.load(std::memory_order_relaxed) & kinds) != 0 && !is_carried_by_other(worker);
}

// Until the unit is done, or schedule() had better go on: the same on the KLT that the worker was lent to has come to
// its end, for instance.
void run_what_is_at_hand(Worker& worker, const Unit& awaited) {
  while (!is_done(awaited) && !worker.turns.of_what_was_left && !has_custom_function(worker)) {
    Unit* next = next_ready(worker);
    if (next == nullptr) return;
    const bool is_last = may_be_lent_for(worker, *next);
    const Event event = run(worker, *next);
    if (is_last) return;
    if (event != Event::yielded) continue;
    keep_time(worker);
    take_turns_with_handed_on(worker);
    if (is_time_to_look_around(worker)) return;
  }
}

}  // namespace

void run_until_done(const Unit& unit) {
  Worker& worker = *this_worker();
  if (has_custom_function(worker)) return;
  Unit& self = *worker.current;
  const InUse in_use(worker);
  {
    SchedulerFrame frame(worker, true);
    worker.current = nullptr;
    worker.until_done = &unit;
    run_what_is_at_hand(worker, unit);
    worker.until_done = nullptr;
  }
  put_back_what_was_handed_on(worker);
  come_back(worker, self);
}

[[gnu::noinline]] void run_lent(Worker& worker, Unit& first, weft_fp_control modes, bool loops,
                                const Unit* until_done) {
  {
    SchedulerFrame frame(worker, loops, modes);
    worker.current = nullptr;
    run(worker, first);
    if (until_done != nullptr) run_what_is_at_hand(worker, *until_done);
  }
  if (loops && until_done == nullptr && !is_over(worker)) schedule(worker, false);
}

void run_one(Worker& worker, Unit& unit, const Pool* served) {
  SchedulerFrame frame(worker);
  const Pool* before = worker.served;
  worker.served = served;
  run(worker, unit);
  put_back_what_was_handed_on(worker);
  worker.served = before;
}

void run_one_as_here(Worker& worker, Unit& unit) {
  const weft_fp_control modes = arch::fp_control();
  SchedulerFrame frame(worker, false, modes, modes);
  run(worker, unit);
  put_back_what_was_handed_on(worker);
}

void suspend() {
  Worker& worker = *this_worker();
  Unit& unit = *worker.current;
  if (!is_root(unit)) {
    leave_unit(worker, unit, Event::suspended);
    return;
  }
  // The root stays where it is, on its own stack, and lends its KLT to others.
  UnitState expected = UnitState::suspending;
  if (unit.state.compare_exchange_strong(expected, UnitState::suspended, std::memory_order_acq_rel)) {
    worker.lends_within.store(scope_of(unit), std::memory_order_relaxed);
    worker.until_ready = &unit;
    const InUse in_use(worker);
    schedule(worker, false);
    worker.until_ready = nullptr;
    put_back_what_was_handed_on(worker);
    while (Unit* placed = worker.aside.take_placed()) put_ready(worker, *placed);
    worker.lends_within.store(nullptr, std::memory_order_relaxed);
  }
  unit.state.store(UnitState::running, std::memory_order_relaxed);
  come_back(worker, unit);
}

void park_under(Worker& worker, Unit& unit, Spinlock& lock) {
  worker.unsettled.parked_under = &lock;
  leave_unit(worker, unit, Event::parked);
}

void yield() {
  Worker& worker = worker_here();
  Unit& unit = *worker.current;
  if (is_root(unit) && scope_of(unit) != nullptr) {
    step_aside();
    return;
  }
  if (!is_root(unit)) {
    if (!has_local_work(worker) && !has_flag(unit, UnitFlag::free_standing)) {
      // Nothing here. Somebody else may need this CPU to make the progress that the caller waits for.
      if (!any_work(worker)) {
        os::give_up_cpu();
        return;
      }
    }
    leave_unit(worker, unit, Event::yielded);
    return;
  }
  // A root runs one unit, if there is one, and goes on.
  follow_root(worker);
  Found found;
  {
    SchedulerFrame frame(worker);
    worker.current = nullptr;
    unit.state.store(UnitState::ready, std::memory_order_relaxed);  // waits for the KLT that it has lent
    if (is_time_to_look_around(worker)) found = search_elsewhere(worker);
    if (!found) found.unit = next_ready(worker);
    if (!found) found = search_elsewhere(worker);
    if (found) run_found(worker, found);
    put_back_what_was_handed_on(worker);
    unit.state.store(UnitState::running, std::memory_order_relaxed);
    come_back(worker, unit);
  }
  if (!found) os::give_up_cpu();
}

namespace {

// What a unit waits for may be something that another KLT does, which wants the CPU.
bool is_turn_of_kernel(Worker& worker) {
  constexpr unsigned turns_of_units = 32;
  return ++worker.turns.yields_for_program % turns_of_units == 0;
}

// A root that is not in use as a worker is a thread of the program's like any other: the kernel sees to it.
bool may_yield_for_program(const Worker& worker, const Unit& unit) {
  return worker.held_off == 0 && unit.state.load(std::memory_order_relaxed) == UnitState::running && may_wait(unit) &&
         details(unit).held_off == 0 && (!is_root(unit) || worker.active.load(std::memory_order_relaxed));
}

bool others_wait(Worker& worker, const Unit& unit) {
  return is_root(unit) ? something_waits() : has_local_work(worker) || any_work(worker);
}

// Others come first once. Before a root that was interrupted, as often as there are ready units for each worker, but
// for no longer than their slices should take.
void set_turn(Root& root, std::uint64_t ran_ns) {
  root.times_put_off = 1;
  root.due = UINT64_MAX;
  if (ran_ns == 0) return;
  constexpr std::size_t most = 16;
  const std::size_t per_worker = count_ready() / std::max(1U, runtime.active.load(std::memory_order_relaxed));
  root.times_put_off = static_cast<unsigned>(std::clamp<std::size_t>(per_worker, 1, most));
  root.due = os::now_ns() + root.times_put_off * most_of(ran_ns);
}

}  // namespace

void yield_where_others_wait() {
  Worker& worker = worker_here();
  if (others_wait(worker, *worker.current) || is_turn_of_kernel(worker)) yield();
}

// Not under the lock of the dynamic linker: the watchdog's KLT wants it, by which a root that has stepped aside goes
// on. (Bug: a member that read the clock under it let others have their turn, and none of them was taken off a worker
// again while the watchdog waited.)
bool yield_for_program() {
  Worker* worker = this_worker();
  if (worker == nullptr || is_lent_from_here(*worker)) return false;
  const Unit* unit = worker->current;
  if (unit == nullptr || !may_yield_for_program(*worker, *unit)) return false;
  if (!others_wait(*worker, *unit) || is_turn_of_kernel(*worker) || os::in_handler_of_program() ||
      os::called_under_lock_of_linker())
    return false;
  yield();
  return true;
}

// It sleeps in here for long, and is still the unit that runs: a handler of the program's may run on top of it and be
// interrupted itself, in code that looks like any other of the program's. (Bug: it stepped aside once more, stood in
// two queues, and what came of that was run twice.)
void step_aside(std::uint64_t ran_ns) {
  const HeldOff held;
  Worker& worker = *this_worker();
  Worker* other = something_waits() ? stand_in() : nullptr;
  if (other == nullptr) {
    os::give_up_cpu();
    return;
  }
  set_turn(worker.root, ran_ns);
  if (ran_ns != 0) other->interrupts.takes_over.store(true, std::memory_order_relaxed);
  // What waits at its place may be what it waits for.
  place_pools.roots_aside.fetch_add(1, std::memory_order_relaxed);
  worker.klts.note_change();
  worker.parked.store(Parked::for_its_turn, std::memory_order_release);
  other->inbox.put(&worker.root.unit);
  os::light_fence();
  if (!wake(*other) && !wake_resting_spare(*other) && is_switched_off(*other)) want_spare();
  while (worker.parked.load(std::memory_order_acquire) == Parked::for_its_turn)
    os::futex_wait(worker.parked, Parked::for_its_turn);
  worker.klts.note_change();
  place_pools.roots_aside.fetch_sub(1, std::memory_order_relaxed);
}

void schedule_worker(Worker& worker) {
  schedule(worker, true);
  put_back_what_was_handed_on(worker);
  // It was switched off, and may be on again by now.
  while (!worker.claims.ends.load(std::memory_order_acquire)) {
    notify();  // what is left here, others take
    rest_while_off(worker);
    schedule(worker, false);
    put_back_what_was_handed_on(worker);
  }
}

}  // namespace weft::core
