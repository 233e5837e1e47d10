// Each member of a team has a part of the reduction, in variables of its own, and all parts have to come into the
// variables that the members share. Who finds the team's lock free adds its part itself: one locked instruction to take
// it, one to give it back, and no member waits for another. That is all that happens where members come one by one, as
// those do that one worker calls one after the other.
//
// Members that come at once would stand in line, each for as long as one addition takes, which for an array is long. So
// a member that does not get the lock within a moment offers its part: it puts the address of a record on its stack
// into the team's word `offered`. Who finds such an offer there takes it, adds the other's part to its own, without the
// lock, says so to the other member, which is through, and goes on with the sum. Parts thus come together in
// pairs, at the same time in as many pairs as there are, and sums of them again: a tree that grows only where members
// wait anyway, no deeper than the logarithm of how many come at once, while the lock is taken for sums.
//
// Who may touch what:
// - A record belongs to its member until it is offered, and again once it is taken back (compare-exchange of `offered`
//   from the record to nullptr) or answered. Whoever else takes it out, by the same compare-exchange, owns it until
//   he answers. So a part is added by exactly one: that which took the record out. Until then nobody reads the record:
//   its address alone says nothing, it may lie there again after it has been taken back.
// - Putting it out (release) pairs with taking it out (acquire): the taker sees the part. The answer (release) pairs
//   with the member's look at it (acquire): the taker is through with the part when the member goes on and its stack is
//   used anew. After the answer the taker uses nothing but the record's address.
// - The variables are written under the lock only. Its holder is a member that has not come to the next barrier or to
//   the end of the region yet: behind these everything is added, also the parts of those who have gone on.
// - The parts of two reductions must not be mixed: without a barrier members may be in different ones, or in different
//   rounds of the same one. All members of a team meet the same reductions in the same order, so each counts those it
//   has come to. The number stands in the record and is looked at by who has taken it out; if it is not his own he
//   refuses, and the other waits for the lock alone. (To offer again would let the two refuse each other for as long as
//   the lock is held.)
//
// Nobody waits in vain. A member whose record is out spins briefly, then sleeps at two addresses: the lock's (it notes
// that in the lock's word, so that unlock() wakes it) and its record's (it notes that in the record, so that the answer
// does). A member whose record is taken waits for the taker alone, who waits for nobody before he answers: he runs the
// compiler's function that adds. The holder of the lock waits for nobody either. So a holder that has lost its CPU
// delays others, but no more than with a plain lock, and those who have lost theirs while they wait delay nobody: their
// offers are taken without them. tests/models/reduction.pml checks the protocol.
//
// Decided against, with figures in docs/design/reductions.md: atomic operations by each member, for which LLVM's
// compilers make code as well; a tree that is there from the start; one lock for the process.
#include "faces/openmp/reduction.h"

#include "core/looks.h"
#include "core/parking_lot.h"

namespace weft::openmp {

struct ReductionOffer {
  enum State : std::uint32_t { open, open_asleep, added, refused };
  ReductionPart part;
  std::uint32_t which;  // of the region's reductions
  std::atomic<std::uint32_t> state{open};

  bool is_open() const { return state.load(std::memory_order_acquire) <= open_asleep; }
};

namespace {

constexpr unsigned pauses_before_offer = 15, pauses_before_sleep = 127;

// Asked under the lock of the record's queue.
bool sleeps_at_record(const void* argument) {
  auto& state = static_cast<ReductionOffer*>(const_cast<void*>(argument))->state;
  std::uint32_t before = ReductionOffer::open;
  return state.compare_exchange_strong(before, ReductionOffer::open_asleep, std::memory_order_acquire) ||
         before == ReductionOffer::open_asleep;
}

void answer(ReductionOffer& offer, ReductionOffer::State how) {
  const void* address = &offer;
  if (offer.state.exchange(how, std::memory_order_acq_rel) == ReductionOffer::open_asleep) core::unpark(address);
}

// Somebody else has taken it.
void wait_for_answer(ReductionOffer& mine) {
  core::Looks looks(pauses_before_sleep);
  while (mine.is_open())
    if (!looks.pause()) core::park(&mine, sleeps_at_record, &mine);
}

bool put_out(Reductions& team, ReductionOffer& mine) {
  ReductionOffer* none = nullptr;
  return team.offered.compare_exchange_strong(none, &mine, std::memory_order_release, std::memory_order_relaxed);
}

bool take_out(Reductions& team, ReductionOffer& offer) {
  ReductionOffer* offered = &offer;
  return team.offered.compare_exchange_strong(offered, nullptr, std::memory_order_acquire, std::memory_order_relaxed);
}

// One step of waiting for the lock, or for an answer. True: the caller holds the lock.
bool lock_or_wait(Reductions& team, ReductionOffer& mine, core::Looks& looks) {
  if (looks.pause()) return !team.lock.held() && team.lock.try_lock();
  if (team.lock.lock_or_announce()) return true;
  core::ParkPlace places[] = {{&team.lock, ReductionLock::is_announced, &team.lock}, {&mine, sleeps_at_record, &mine}};
  std::uint32_t which = 0;
  (void)core::park_any(places, 2, core::never, &which);
  return false;
}

// The caller's offer is out. True: not any more, and the caller holds the lock. False: it has been answered.
bool wait_as_offered(Reductions& team, ReductionOffer& mine) {
  core::Looks looks(pauses_before_sleep);
  while (mine.is_open()) {
    if (!lock_or_wait(team, mine, looks)) continue;
    if (take_out(team, mine)) return true;
    team.lock.unlock();
    wait_for_answer(mine);
  }
  return false;
}

// The caller has taken it out.
void take_in(const ReductionOffer& mine, ReductionOffer& other) {
  if (other.which != mine.which || other.part.combine != mine.part.combine)
    return answer(other, ReductionOffer::refused);
  mine.part.combine(mine.part.data, other.part.data);
  answer(other, ReductionOffer::added);
}

}  // namespace

bool ReductionLock::try_for_a_moment(unsigned pauses) {
  core::Looks looks(pauses);
  while (looks.pause())
    if (!held() && try_lock()) return true;
  return false;
}

void ReductionLock::lock() {
  if (try_for_a_moment(pauses_before_sleep)) return;
  while (!lock_or_announce()) core::park(this, is_announced, this);
}

void ReductionLock::wake_all() { core::unpark(this); }

bool begin_contended_reduction(Team& team, const ReductionPart& part, std::uint32_t which) {
  // A picture of the parent's team, where the lock's holder is not.
  if (team.epoch != core::runtime.epoch.load(std::memory_order_relaxed)) [[unlikely]]
    return true;
  Reductions& reductions = team.reductions;
  ReductionOffer mine{part, which};
  while (!reductions.lock.try_for_a_moment(pauses_before_offer)) {
    if (part.combine == nullptr) {
      reductions.lock.lock();
      return true;
    }
    if (ReductionOffer* other = reductions.offered.load(std::memory_order_relaxed); other != nullptr) {
      if (take_out(reductions, *other)) take_in(mine, *other);
      continue;
    }
    if (!put_out(reductions, mine)) continue;
    if (wait_as_offered(reductions, mine)) return true;
    if (mine.state.load(std::memory_order_relaxed) == ReductionOffer::added) return false;
    reductions.lock.lock();
    return true;
  }
  return true;
}

}  // namespace weft::openmp
