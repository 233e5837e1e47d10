#include "core/find.h"

#include <algorithm>

#include "core/hand.h"
#include "core/idle.h"
#include "core/place_pools.h"
#include "core/pool/chain.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/workers.h"
#include "os/clock.h"
#include "os/distance.h"

namespace weft::core {
namespace {

const Share* scope_of(const Worker& worker) { return worker.lends_within.load(std::memory_order_relaxed); }

// Orders. publish() releases what shared_work() acquires: a share as it was opened first; how far it is used up is said
// by its own word (pool/share.h). The lock of the further shares does the same for them, and `overflowing` is a hint
// that there are some. All else that is looked at without a lock (sizes, `parked`, `lends_within`) is a hint as well:
// what has to be seen before one sleeps is seen by the fences of idle.cpp.

// The unit, or nullptr if the worker may not run it: then it is for the others, who find it at `owner`.
Unit* unless_out_of_scope(const Worker& worker, Worker& owner, Unit* unit) {
  if (unit == nullptr || Aside::may_run(scope_of(worker), *unit)) [[likely]]
    return unit;
  const Share* scope = scope_of(*unit);
  const Pool* pool = has_flag(*unit, UnitFlag::placed) ? unit->pool.load(std::memory_order_relaxed) : nullptr;
  owner.aside.put(*unit);
  if (pool != nullptr)
    notify_place(*pool, scope);
  else
    notify(scope);
  return nullptr;
}

Aside::Looker looker_at(const Worker& victim, const Worker& worker) {
  const bool waits_awake = victim.lends_within.load(std::memory_order_relaxed) != nullptr &&
                           victim.parked.load(std::memory_order_acquire) == Parked::awake;
  return {scope_of(worker), worker.attended.load(std::memory_order_relaxed), !waits_awake || takes_from_all(worker)};
}

// Whether a unit out of an inbox is for its worker. Some come from a barrier, where nobody has looked at them since
// they parked (resume_chain), and may have been told to migrate meanwhile.
bool is_for(Worker& worker, Unit& unit) {
  if (unit.state.load(std::memory_order_relaxed) != UnitState::suspended) [[likely]]
    return true;
  unit.state.store(UnitState::ready, std::memory_order_relaxed);
  if (unit.pool.load(std::memory_order_acquire) == nullptr) return true;
  put_ready(worker, unit);
  return false;
}

// The units of an inbox, oldest first, become ready units of the worker; returns one of them.
Unit* unpack(Worker& worker, Unit* chain) {
  // Pushed newest first, so that pop() hands them out in the order in which they came.
  Unit* reversed = nullptr;
  for_each_in_chain(chain, [&](Unit* unit) {
    if (!is_for(worker, *unit)) return;
    unit->next = reversed;
    reversed = unit;
  });
  if (reversed == nullptr || reversed->next == nullptr) return reversed;
  while (reversed->next != nullptr) {
    Unit* next = reversed->next;
    put_newest(worker, *reversed);
    reversed = next;
  }
  // While they were in hand here, a worker that went to sleep could not see them.
  notify();
  return reversed;
}

// The oldest unit of the inbox alone; the others stay there, in their order.
Unit* take_oldest(Worker& worker) {
  Inbox& inbox = worker.inbox;
  Unit* oldest = inbox.take_all();
  if (oldest == nullptr) return nullptr;
  if (Unit* second = oldest->next; second != nullptr) {
    inbox.put(reverse_chain(second), second);
    notify();  // while they were in hand, a worker that went to sleep could not see them
  }
  return is_for(worker, *oldest) ? oldest : nullptr;
}

// A unit of the worker's deque, another one each time, so that none waits for ever. The oldest one would do where only
// units that have become ready lie there; but those that yield are put at the old end (put_behind_all_others).
Unit* take_another(Worker& worker) {
  if (!worker.privacy.enter()) return worker.deque.steal();
  Unit* unit = worker.deque.pop_any_alone(worker.turns.fair / 2);
  worker.privacy.leave();
  return unit;
}

}  // namespace

[[gnu::noinline]] bool is_turn_of_others_by_time(Worker& worker) {
  constexpr std::uint64_t interval_ns = 5ULL * 1000 * 1000;
  if (os::recent_ns() - worker.turns.last >= interval_ns) return true;
  worker.turns.points = worker.scheduling_points.load(std::memory_order_relaxed);
  return false;
}

namespace {

// Whether the worker has a look, in its turn, at what lies there: nobody comes to it, for as long as that lasts. A
// spare that rests; and for one that may run anything, a worker that is switched off, a root in the program's own code,
// or a slot that nobody has any more.
bool is_away(const Worker& victim, const Worker& worker) {
  const std::uint32_t parked = victim.parked.load(std::memory_order_acquire);
  if (parked == Parked::spare_rests) return true;
  if (scope_of(worker) != nullptr) return false;
  if (parked != Parked::awake) return parked == Parked::switched_off;
  const WorkerUse use = victim.use.load(std::memory_order_relaxed);
  return (use == WorkerUse::root || use == WorkerUse::none) && !victim.active.load(std::memory_order_relaxed);
}

bool has_ready_units(const Worker& worker) { return !worker.deque.looks_empty() || !worker.inbox.looks_empty(); }

// Whether something lies where nobody comes who has units of his own: at a worker that is away, or put aside, wherever.
// (Bug: what a thread of the program's own had made ready, and did not run itself, waited for as long as each worker
// had something of its own to do.)
bool something_was_left(const Worker& worker) {
  return find_worker([&worker](Worker& victim) {
           if (victim.scheduler() != nullptr) return false;
           if (!victim.aside.looks_empty() && victim.aside.has(looker_at(victim, worker))) return true;
           return &victim != &worker && has_ready_units(victim) && is_away(victim, worker);
         }) != nullptr;
}

// Units that keep resuming each other here must not keep the others waiting for ever: now and then it
// is the turn of the deque's oldest, or of the inbox's. Not often: where units create units and wait
// for them, each oldest one opens up a further tree, with stacks of its own.
Unit* next_in_turn(Worker& worker) {
  if (!is_turn_of_others(worker)) [[likely]]
    return nullptr;
  worker.turns.points = worker.scheduling_points.load(std::memory_order_relaxed);
  worker.turns.last = os::recent_ns();
  worker.turns.of_what_was_left =
      worker.turns.elsewhere || left_to_awake.load(std::memory_order_relaxed) || something_was_left(worker);
  const bool turn_of_inbox = ++worker.turns.fair % 2 != 0;
  Unit* unit = turn_of_inbox ? take_oldest(worker) : take_another(worker);
  if (unit == nullptr) unit = turn_of_inbox ? take_another(worker) : take_oldest(worker);
  return unit;
}

// `helps`: also a share that wants help. (Who asks for that reads what its members write all the time.)
Share* shared_work(const Worker& victim, const Share* scope, bool helps = true) {
  const auto suits = [scope, helps](const Share& share) {
    return (helps ? share.has_work() : share.left() != 0) && share.lies_within(scope);
  };
  // The outermost comes first: it holds the most work per claim.
  for (auto& place : victim.published) {
    Share* share = place.load(std::memory_order_acquire);
    if (share != nullptr && suits(*share)) return share;
  }
  if (victim.overflowing.load(std::memory_order_acquire) == 0) return nullptr;
  SpinGuard guard(victim.overflow_lock);
  for (Share* share = victim.overflow; share != nullptr; share = share->next_in_overflow)
    if (suits(*share)) return share;
  return nullptr;
}

// Of those whose ready units anybody may take: what look(Worker&) finds first that is something.
template <class Look>
auto first_of_victims(unsigned start, Look look) -> decltype(look(*runtime.worker_at[0].load())) {
  return first_of_workers(start, [&look](Worker& victim) -> decltype(look(victim)) {
    if (victim.scheduler() != nullptr) return {};
    return look(victim);
  });
}

// Of workers that do not get on (core/hand.h).
Found open_hand_of(Worker& victim, const Share* scope) {
  Found found;
  if (offers_hand(victim, scope)) found.share = take_from_hand(victim, scope, found.run);
  return found;
}

// looker(Worker&): who looks at the aside of that one.
template <class Lookers>
bool any_work_within(const Share* scope, Lookers looker) {
  return first_of_victims(0, [scope, looker](Worker& victim) {
    return has_ready_units(victim) || (!victim.aside.looks_empty() && victim.aside.has(looker(victim))) ||
           shared_work(victim, scope) != nullptr || offers_hand(victim, scope);
  });
}

// By turns, for each of them could have something for ever.
Unit* next_placed_or_newest(Worker& worker) {
  if (++worker.turns.placed % 2 == 0)
    if (Unit* unit = take_newest(worker); unit != nullptr) return unit;
  return next_placed(worker);
}

}  // namespace

Unit* next_local(Worker& worker) {
  for (;;) {
    Unit* unit = next_in_turn(worker);
    if (unit == nullptr && worker.attended.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
      unit = next_placed_or_newest(worker);
    if (unit == nullptr) unit = take_newest(worker);
    if (unit == nullptr) unit = unpack(worker, worker.inbox.take_all());
    if (unit == nullptr) return nullptr;
    unit = unless_out_of_scope(worker, worker, unit);
    if (unit != nullptr) return unit;
  }
}

Unit* next_of_deque(Worker& worker) { return unless_out_of_scope(worker, worker, take_newest(worker)); }

Unit* next_handed_in(Worker& worker) {
  Unit* unit = unpack(worker, worker.inbox.take_all());
  return unless_out_of_scope(worker, worker, unit);
}

namespace {

// A single unit is left to a worker that goes from unit to unit, and so comes to it sooner than it would come here:
// two units that resume each other would else be torn apart, and each hand-over would cross from core to core.
// Of the workers with one the thief watches another until that moves on or has been robbed. (Bug: it watched the one
// that it came to last. So where two or more had one each, none of them was ever seen to stand still, and what lay at
// members' workers that slept in the kernel waited for a thief with units of its own for some 10 s.)
bool is_left_to(Worker& victim, Worker& thief) {
  if (victim.deque.size() != 1) return false;
  const std::uint64_t points = victim.scheduling_points.load(std::memory_order_relaxed);
  constexpr unsigned often = 1024;  // then it is taken all the same: the thief shall not look for ever
  Watched& watched = thief.watched;
  bool stands_still = false;
  if (watched.at == &victim) {
    stands_still = watched.points == points;
    watched.at = nullptr;
  } else if (watched.at == nullptr || watched.at->deque.size() != 1) {
    watched = {&victim, points};
  }
  if (!stands_still && ++thief.turns.units_left != often) return true;
  thief.turns.units_left = 0;
  return false;
}

// Half of what lies in the deque of another, the oldest, but `most` at most; returns the oldest of them, or nullptr,
// and keeps the others: what the two deques share crosses from core to core once for many.
Unit* take_from_deque(Worker& thief, Worker& victim, std::size_t most) {
  if (victim.deque.looks_empty()) return nullptr;
  Unit* taken[Appetite::most];
  std::size_t count = 0;
  {
    const Privacy::Visit visit(&victim.privacy);
    const std::size_t half = (victim.deque.size() + 1) / 2;
    const std::size_t wanted = std::min(half, most);
    while (count < wanted && (taken[count] = victim.deque.steal()) != nullptr) ++count;
  }
  if (count == 0) return nullptr;
  for (std::size_t index = count; --index != 0;) put_newest(thief, *taken[index]);
  if (count > 1) notify();  // while they were in hand, a worker that went to sleep could not see them
  thief.appetite.took(count);
  return taken[0];
}

// What is handed to a worker is shared out like what lies in its deque: one that had all of it would soon be robbed of
// it in turn.
Unit* steal_from_inbox(Worker& thief, Worker& victim) {
  bool some_stayed = false;
  Unit* chain = victim.inbox.take_older_half(some_stayed);
  if (some_stayed) notify();  // as above
  return unpack(thief, chain);
}

Unit* take_from(Worker& thief, Worker& victim, std::size_t most) {
  Unit* unit = take_from_deque(thief, victim, most);
  return unit != nullptr ? unit : steal_from_inbox(thief, victim);
}

Unit* steal(Worker& thief, Worker& victim, std::size_t most) {
  return is_left_to(victim, thief) ? steal_from_inbox(thief, victim) : take_from(thief, victim, most);
}

// What has been taken there, if the worker may run it; else what it may run of what is put aside there.
Unit* or_else_from_aside(Worker& worker, Worker& victim, Unit* taken) {
  Unit* unit = unless_out_of_scope(worker, victim, taken);
  if (unit == nullptr && !victim.aside.looks_empty()) unit = victim.aside.take(looker_at(victim, worker));
  return unit;
}

// Where the worker is bound to a CPU and the distances are known, the nearest ones are looked at first; among those
// that are equally near, a random one. Who is not bound is at no distance from anybody, and looked at last.
template <class Look>
Found nearest_first(Worker& worker, unsigned start, Look look) {
  const int cpu = worker.cpu.load(std::memory_order_relaxed);
  if (cpu < 0) [[likely]]
    return first_of_victims(start, look);
  if (!os::distances_known()) {
    os::ask_for_distances();
    return first_of_victims(start, look);
  }
  Found found;
  for (unsigned distance = 0; distance <= os::farthest && !found; ++distance)
    found = first_of_victims(start, [&](Worker& victim) {
      return os::distance(cpu, victim.cpu.load(std::memory_order_relaxed)) == distance ? look(victim) : Found{};
    });
  return found;
}

}  // namespace

Found search(Worker& worker, Sought sought) {
  const Share* scope = scope_of(worker);
  const unsigned start = next_random(worker);
  if (runtime.hands_open.load(std::memory_order_relaxed)) [[unlikely]]
    if (Found found = first_of_victims(start, [scope](Worker& victim) { return open_hand_of(victim, scope); }))
      return found;
  const bool helps = worker.help_pause.is_over();
  Found found = first_of_victims(start, [scope, helps](Worker& victim) {
    return Found{nullptr, shared_work(victim, scope, helps)};
  });
  if (found && worker.restraint.allows(*found.share)) return found;
  if (sought == Sought::share) return {};
  // Chance decides whether the pools of the places come first, or what lies at the workers: units that yield may keep
  // either from ever being empty.
  const bool places_first = scope == nullptr && (start >> 31U) != 0;
  if (places_first)
    if (Unit* unit = next_placed_elsewhere(worker); unit != nullptr) return {unit, nullptr};
  // One that may run only some units has nothing from the others.
  const std::size_t limit = scope != nullptr ? 1 : worker.appetite.limit();
  found = nearest_first(worker, start, [&](Worker& victim) -> Found {
    Unit* unit = &victim != &worker && limit != 0 ? steal(worker, victim, limit) : nullptr;
    unit = or_else_from_aside(worker, victim, unit);
    if (unit != nullptr) ++worker.counters.steals;
    return {unit, nullptr};
  });
  if (!found && !places_first) found.unit = unless_out_of_scope(worker, worker, next_placed_elsewhere(worker));
  return found;
}

// (Bug: two units that handed a turn to and fro by a condition variable had the only worker that was awake to
// themselves, while two others lay at a spare that had come to rest.)
Found search_what_was_left(Worker& worker) {
  const Share* scope = scope_of(worker);
  return first_of_victims(next_random(worker), [&worker, scope](Worker& victim) -> Found {
    if (&victim == &worker || !is_away(victim, worker)) return {or_else_from_aside(worker, victim, nullptr), nullptr};
    if (Share* share = shared_work(victim, scope); share != nullptr) return {nullptr, share};
    // Bug: each was left to its worker when it lay there alone, and where there were several such workers for seconds.
    return {or_else_from_aside(worker, victim, take_from(worker, victim, 1)), nullptr};
  });
}

bool any_work(const Worker& worker) {
  return any_work_within(scope_of(worker), [&worker](const Worker& victim) { return looker_at(victim, worker); }) ||
         any_placed(worker);
}
bool any_work() {
  return any_work_within(nullptr, [](const Worker&) { return Aside::Looker{}; });
}

std::size_t count_ready() {
  std::size_t count = 0;
  for_each_worker([&count](const Worker& worker) { count += worker.deque.size(); });
  return count;
}

const Share* offered_share(const Worker& worker) { return shared_work(worker, nullptr); }

bool offers_work(const Worker& worker) {
  return has_ready_units(worker) || !worker.aside.looks_empty() || offered_share(worker) != nullptr ||
         offers_hand(worker, nullptr);
}

void publish(Worker& worker, Share& share) {
  share.published_by = &worker;
  for (auto& candidate : worker.published) {
    if (candidate.load(std::memory_order_relaxed) != nullptr) continue;
    share.place = &candidate;
    candidate.store(&share, std::memory_order_release);
    return;
  }
  share.place = nullptr;
  SpinGuard guard(worker.overflow_lock);
  share.next_in_overflow = worker.overflow;
  worker.overflow = &share;
  worker.overflowing.fetch_add(1, std::memory_order_release);
}

void unpublish(Share& share) {
  Worker* worker = share.published_by;
  if (worker == nullptr) return;
  share.published_by = nullptr;
  if (share.place != nullptr) {
    share.place->store(nullptr, std::memory_order_relaxed);  // nothing rests on when thieves see it
    return;
  }
  SpinGuard guard(worker->overflow_lock);
  Share** link = &worker->overflow;
  while (*link != &share) link = &(*link)->next_in_overflow;
  *link = share.next_in_overflow;
  worker->overflowing.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace weft::core
