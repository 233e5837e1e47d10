#include "core/sync/barrier.h"

#include "core/parking_lot.h"

namespace weft::core {

// Under the queue's lock, which orders what was done before the barrier and after it, too. True: the last.
bool Barrier::arrive(Waiters& waiters) {
  const std::uint32_t arrived = arrived_.load(std::memory_order_relaxed) + 1;
  if (arrived != parties_) {
    arrived_.store(arrived, std::memory_order_relaxed);
    return false;
  }
  waiters.take_all();
  round_.store(round_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  arrived_.store(0, std::memory_order_relaxed);
  return true;
}

bool Barrier::arrive_and_wait() {
  return !park_if(
      strict_key(this), [this](Waiters& waiters) { return !arrive(waiters); }, [] { return true; }, [] {});
}

Barrier::Outcome Barrier::wait_until(std::uint64_t deadline) {
  if (deadline == never) return arrive_and_wait() ? Outcome::passed_last : Outcome::passed;
  std::uint32_t round = 0;
  {
    Waiters waiters(strict_key(this));
    round = round_.load(std::memory_order_relaxed);
    if (arrive(waiters)) return Outcome::passed_last;
  }
  struct Seen {
    const std::atomic<std::uint32_t>* round;
    std::uint32_t value;
  } seen{&round_, round};
  const auto same_round = [](const void* argument) {
    auto before = static_cast<const Seen*>(argument);
    return before->round->load(std::memory_order_relaxed) == before->value;
  };
  if (park_until(strict_key(this), same_round, &seen, deadline) != ParkResult::timed_out) return Outcome::passed;
  return take_back(round) ? Outcome::timed_out : Outcome::passed;
}

bool Barrier::try_arrive_last() {
  Waiters waiters(strict_key(this));
  return arrived_.load(std::memory_order_relaxed) + 1 == parties_ && arrive(waiters);
}

// False: the round is complete.
bool Barrier::take_back(std::uint32_t round) {
  Waiters waiters(strict_key(this));
  if (round_.load(std::memory_order_relaxed) != round) return false;
  arrived_.store(arrived_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  return true;
}

}  // namespace weft::core
