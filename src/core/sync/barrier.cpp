// The shards. Of the `parties` arrivals of a round each takes one token; the tokens lie in the shards, as many in each
// as arrivals there were in the last round. So an arrival mostly finds one in the shard of its worker, under a lock
// that nobody else wants. Who takes the last token of a shard takes one from `left`, the number of shards that have
// some; who takes the last of these is the last to arrive, and releases all.
//
// Where a shard has no token although somebody arrives there (a unit has moved), half of those of another come over,
// under `moving` and the locks of both. `left` is raised before it is lowered, so it is 0 only if no token is left.
// Then the round is complete, and further arrivals (a barrier may have more users than parties) wait until the last one
// has dealt out the tokens of the next round, which it does under all locks. tests/models/barrier_shards.pml checks
// this.
//
// Locks are taken in this order: `moving`, then shards; more than one shard's only under `moving`.
//
// A unit that waits keeps the lock of its shard until it is off its stack, so whoever collects it can continue it at
// once (Event::parked). It is handed to the worker that it waited on, the units of one as one chain; but where the
// rounds are so short that what crosses between the workers takes longer than what the units do, all go on where the
// last one is. Units with a pool or an identity of their own, roots and timed waits stand in the parking lot as ever;
// only their tokens come from the shards. Nothing here is touched once somebody has been let go: who passes may end the
// barrier. But for who has taken a token and does not stand in the parking lot yet: they are counted (`on_their_way_`),
// and whoever ends the barrier waits for these, but for those of the process that this one was forked by; and for timed
// waits, whose time may just be over: they must have returned (weft_barrier_destroy()).
#include "core/sync/barrier.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "base/layout.h"
#include "core/find.h"
#include "core/identities.h"
#include "core/idle.h"
#include "core/parking_lot.h"
#include "core/runtime.h"
#include "core/scheduler.h"
#include "core/worker.h"
#include "os/clock.h"

namespace weft::core {

struct alignas(base::cache_line) BarrierShard {
  Spinlock lock;
  std::uint32_t tokens = 0;
  std::uint32_t arrived = 0;  // in this round
  Unit* newest = nullptr;     // of those that wait here, linked by Unit::next
  Unit* oldest = nullptr;
  Worker* home = nullptr;  // where the newest was
};

struct alignas(base::cache_line) BarrierShards {
  static constexpr unsigned count = 8;
  Spinlock moving;
  std::uint64_t released_at = 0;
  unsigned used = 0;  // a bit for each shard that anybody has arrived in; under `moving`
  std::atomic<std::uint32_t> left{0};
  BarrierShard shard[count];

  BarrierShard& of(const Worker& worker) { return shard[worker.index % count]; }
  void note_used(const BarrierShard& one) { used |= 1U << static_cast<unsigned>(&one - shard); }
  /// Under `moving`. The lines of the others stay where they are.
  template <class Visit>
  void for_each_used(Visit visit) {
    for (unsigned bits = used; bits != 0; bits &= bits - 1) visit(shard[std::countr_zero(bits)]);
  }
};

namespace {

// Whether those that were taken wait on several workers: all are suspended, so their workers are known.
bool are_apart(const Unit* chain) {
  std::uint16_t first = Unit::nowhere;
  for (const Unit* unit = chain; unit != nullptr; unit = unit->next) {
    const std::uint16_t place = unit->place;
    if (place == Unit::nowhere || is_root(*unit)) continue;
    if (first != Unit::nowhere && place != first) return true;
    first = place;
  }
  return false;
}

// `worker`: nullptr where a thread that has none was the last.
BarrierShards* make_shards(const Worker* worker, std::uint32_t parties) {
  void* memory = nullptr;
  if (posix_memalign(&memory, alignof(BarrierShards), sizeof(BarrierShards)) != 0) return nullptr;
  auto shards = new (memory) BarrierShards;
  BarrierShard& first = worker != nullptr ? shards->of(*worker) : shards->shard[0];
  first.tokens = parties;
  shards->note_used(first);
  shards->left.store(1, std::memory_order_relaxed);
  return shards;
}

// Half of the tokens of some shard, if there are any, come to this one. Under `moving` and the lock of `to`.
void move_tokens(BarrierShards& shards, BarrierShard& to) {
  shards.for_each_used([&](BarrierShard& from) {
    if (to.tokens != 0 || &from == &to) return;
    SpinGuard guard(from.lock);
    if (from.tokens == 0) return;
    shards.left.fetch_add(1, std::memory_order_relaxed);
    to.tokens = (from.tokens + 1) / 2;
    from.tokens -= to.tokens;
    if (from.tokens == 0) shards.left.fetch_sub(1, std::memory_order_relaxed);
  });
}

// Counts an arrival in the shard, whose lock is held afterwards. True: it is the last of the round.
bool count_arrival(BarrierShards& shards, BarrierShard& shard) {
  shard.lock.lock();
  while (shard.tokens == 0) {
    shard.lock.unlock();
    wait_while([&shards] { return shards.left.load(std::memory_order_relaxed) == 0; });
    SpinGuard guard(shards.moving);
    shards.note_used(shard);
    shard.lock.lock();
    if (shard.tokens == 0) move_tokens(shards, shard);
  }
  ++shard.arrived;
  // acq_rel: the last one comes after all others.
  return --shard.tokens == 0 && shards.left.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

// Counts an arrival only if it is the last of the round. Whether it is, `left` decides: a token that somebody gives
// back meanwhile raises that first.
bool take_last_token(BarrierShards& shards) {
  SpinGuard guard(shards.moving);
  if (shards.left.load(std::memory_order_relaxed) != 1) return false;
  bool last = false;
  shards.for_each_used([&](BarrierShard& shard) {
    SpinGuard shard_guard(shard.lock);
    if (last || shard.tokens != 1) return;
    std::uint32_t only = 1;
    last = shards.left.compare_exchange_strong(only, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
    if (!last) return;
    shard.tokens = 0;
    ++shard.arrived;
  });
  return last;
}

bool can_wait_in_shard(const Worker& worker, const Unit& unit) {
  return worker.scheduler() == nullptr && !is_root(unit) && runs_on_any_identity(unit) &&
         unit.pool.load(std::memory_order_relaxed) == nullptr;
}

struct Chain {
  Worker* home;
  Unit* newest;
  Unit* oldest;
};

// Which fork this process comes of, as far as it matters.
constexpr unsigned epoch_bits = 16;
std::uint32_t epoch_now() { return runtime.epoch.load(std::memory_order_relaxed) << epoch_bits; }

// Of a word that was written in this process; else there are none. As many as there are KLTs at most: nobody is left on
// its way.
std::uint32_t count_in(std::uint32_t word) {
  constexpr std::uint32_t count_mask = (1U << epoch_bits) - 1;
  return (word & ~count_mask) == epoch_now() ? word & count_mask : 0;
}

}  // namespace

void Barrier::begin_way() {
  std::uint32_t word = on_their_way_.load(std::memory_order_relaxed);
  while (!on_their_way_.compare_exchange_weak(word, epoch_now() | (count_in(word) + 1), std::memory_order_relaxed)) {
  }
}

void Barrier::end_way() { on_their_way_.fetch_sub(1, std::memory_order_release); }

std::uint32_t Barrier::count_on_their_way() const { return count_in(on_their_way_.load(std::memory_order_acquire)); }

void Barrier::give_back() {
  wait_while([this] { return count_on_their_way() != 0; });
  BarrierShards* shards = shards_.load(std::memory_order_relaxed);
  if (shards == nullptr) return;
  shards_.store(nullptr, std::memory_order_relaxed);
  std::free(shards);
}

std::uint32_t Barrier::arrived() const {
  BarrierShards* shards = shards_.load(std::memory_order_acquire);
  if (shards == nullptr) return arrived_.load(std::memory_order_relaxed);
  std::uint32_t tokens = 0;
  SpinGuard guard(shards->moving);
  shards->for_each_used([&tokens](BarrierShard& shard) {
    SpinGuard shard_guard(shard.lock);
    tokens += shard.tokens;
  });
  return parties_ - tokens;
}

// ---------------------------------------------------------------- without shards

// Under the queue's lock, which orders what was done before the barrier and after it, too.
[[gnu::always_inline]] inline Barrier::Arrival Barrier::arrive() {
  if (shards_.load(std::memory_order_relaxed) != nullptr) [[unlikely]]
    return Arrival::elsewhere;
  const std::uint32_t arrived = arrived_.load(std::memory_order_relaxed) + 1;
  if (arrived == parties_) return Arrival::last;
  arrived_.store(arrived, std::memory_order_relaxed);
  return Arrival::waits;
}

[[gnu::noinline]] void Barrier::complete(Waiters& waiters) {
  const Unit* chain = waiters.take_all();
  const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  round_.store(round, std::memory_order_relaxed);
  arrived_.store(0, std::memory_order_relaxed);
  constexpr std::uint32_t seldom = 8;
  if (round % seldom == 0 && are_apart(chain))
    shards_.store(make_shards(this_worker(), parties_), std::memory_order_release);
}

[[gnu::noinline]] void Barrier::complete_under(Bucket& locked) {
  Waiters waiters(strict_key(this), locked);
  complete(waiters);
}

bool Barrier::arrive_and_wait() {
  if (BarrierShards* shards = shards_.load(std::memory_order_acquire); shards != nullptr) [[unlikely]]
    return wait_in_shard(*shards);
  Worker& worker = worker_here();
  Bucket& queue = bucket_of(strict_key(this));
  queue.lock_for_short();
  switch (arrive()) {
    case Arrival::elsewhere:
      queue.lock.unlock();
      return wait_in_shard(*shards_.load(std::memory_order_acquire));
    case Arrival::last:
      complete_under(queue);
      return true;
    case Arrival::waits:
      break;
  }
  park_in(
      queue, strict_key(this), worker, [](Worker&, const Unit&) { return true; }, [] {});
  return false;
}

Barrier::Outcome Barrier::timed_wait(std::uint64_t deadline) {
  worker_here();  // a thread of the program's may be new here, and the last
  std::uint32_t round = 0;
  auto arrival = Arrival::elsewhere;
  if (shards_.load(std::memory_order_acquire) == nullptr) {
    Waiters waiters(strict_key(this));
    round = round_.load(std::memory_order_relaxed);
    arrival = arrive();
    if (arrival == Arrival::last) complete(waiters);
  }
  if (arrival == Arrival::last) return Outcome::passed_last;
  if (arrival == Arrival::elsewhere) return wait_beside_shards(*shards_.load(std::memory_order_acquire), deadline);
  if (wait_in_queue(round, deadline) != Outcome::timed_out) return Outcome::passed;
  return take_back(round) ? Outcome::timed_out : Outcome::passed;
}

// The caller has arrived in this round. `counted`: it is one of those on their way, until it is in the queue, or finds
// that its round is over.
Barrier::Outcome Barrier::wait_in_queue(std::uint32_t round, std::uint64_t deadline, bool counted) {
  struct Seen {
    Barrier* barrier;
    std::uint32_t round;
    mutable bool counted;
  } const seen{this, round, counted};
  const auto same_round = [](const void* argument) {
    auto& before = *static_cast<const Seen*>(argument);
    const bool same = before.barrier->round_.load(std::memory_order_relaxed) == before.round;
    if (before.counted) before.barrier->end_way();
    before.counted = false;
    return same;
  };
  const ParkResult result = park_until(strict_key(this), same_round, &seen, deadline);
  if (seen.counted) end_way();  // its time was over before
  return result == ParkResult::timed_out ? Outcome::timed_out : Outcome::passed;
}

bool Barrier::try_arrive_last() {
  BarrierShards* shards = shards_.load(std::memory_order_acquire);
  if (shards == nullptr) {
    Waiters waiters(strict_key(this));
    shards = shards_.load(std::memory_order_relaxed);
    if (shards == nullptr) {
      const bool last = arrived_.load(std::memory_order_relaxed) + 1 == parties_;
      if (last) complete(waiters);
      return last;
    }
  }
  if (!take_last_token(*shards)) return false;
  release(*shards);
  return true;
}

// False: the round is complete.
bool Barrier::take_back(std::uint32_t round) {
  Waiters waiters(strict_key(this));
  if (round_.load(std::memory_order_relaxed) != round) return false;
  arrived_.store(arrived_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return true;
}

// ---------------------------------------------------------------- with shards

bool Barrier::wait_in_shard(BarrierShards& shards) {
  Worker& worker = worker_here();
  Unit& unit = *worker.current;
  if (!can_wait_in_shard(worker, unit)) return wait_beside_shards(shards, never) == Outcome::passed_last;
  BarrierShard& shard = shards.of(worker);
  if (count_arrival(shards, shard)) {
    shard.lock.unlock();
    release(shards);
    return true;
  }
  unit.next = shard.newest;
  shard.newest = &unit;
  if (shard.oldest == nullptr) shard.oldest = &unit;
  shard.home = &worker;
  park_under(worker, unit, shard.lock);
  return false;
}

Barrier::Outcome Barrier::wait_beside_shards(BarrierShards& shards, std::uint64_t deadline) {
  BarrierShard& shard = shards.of(worker_here());
  begin_way();
  const bool last = count_arrival(shards, shard);
  const std::uint32_t round = round_.load(std::memory_order_relaxed);  // it ends under this lock, too
  shard.lock.unlock();
  if (last) {
    end_way();
    release(shards);
    return Outcome::passed_last;
  }
  if (wait_in_queue(round, deadline, true) != Outcome::timed_out) return Outcome::passed;
  if (take_back_from(shards, shard, round)) return Outcome::timed_out;
  wait_in_queue(round, never);  // the last one still is at the barrier, until it leaves the queue's lock
  return Outcome::passed;
}

// False: the round is complete, and perhaps not released yet.
bool Barrier::take_back_from(BarrierShards& shards, BarrierShard& shard, std::uint32_t round) {
  SpinGuard guard(shard.lock);
  if (round_.load(std::memory_order_relaxed) != round) return false;
  if (shard.tokens == 0) {
    std::uint32_t left = shards.left.load(std::memory_order_relaxed);
    do {
      if (left == 0) return false;
    } while (!shards.left.compare_exchange_weak(left, left + 1, std::memory_order_relaxed));
  }
  ++shard.tokens;
  --shard.arrived;
  return true;
}

// By the last to arrive: nobody else arrives until the tokens are dealt out.
void Barrier::release(BarrierShards& shards) {
  Worker& self = worker_here();
  Chain chains[BarrierShards::count] = {};
  {
    Waiters beside(strict_key(this));
    beside.take_all();
    SpinGuard guard(shards.moving);
    constexpr std::uint64_t short_round_ns = 10000;
    const std::uint64_t now = os::now_ns();
    const bool gathers = now - shards.released_at < short_round_ns && self.scheduler() == nullptr;
    shards.released_at = now;
    shards.note_used(shards.of(self));  // one that cannot wait has taken the token of another shard
    std::uint32_t left = 0;
    Chain* chain = chains;
    shards.for_each_used([&](BarrierShard& shard) {
      shard.lock.lock();
      shard.tokens = gathers ? 0 : shard.arrived;
      shard.arrived = 0;
      if (shard.tokens != 0) ++left;
      *chain++ = {gathers ? &self : shard.home, shard.newest, shard.oldest};
      shard.newest = shard.oldest = nullptr;
    });
    if (gathers) {
      shards.of(self).tokens = parties_;
      left = 1;
    }
    round_.store(round_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    shards.left.store(left, std::memory_order_relaxed);
    shards.for_each_used([](BarrierShard& shard) { shard.lock.unlock(); });
  }
  for (const Chain& chain : chains)
    if (chain.newest != nullptr) resume_chain(*chain.home, chain.newest, chain.oldest);
}

}  // namespace weft::core
