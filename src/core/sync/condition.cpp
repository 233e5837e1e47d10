#include "core/sync/condition.h"

namespace weft::core {

bool Condition::queue_and_leave(Departure& departure, std::uint64_t deadline) {
  departure.queued = &queued_;
  const auto announce = [](const void* argument) {
    static_cast<const Departure*>(argument)->queued->store(1, std::memory_order_relaxed);
    return true;
  };
  const auto leave = [](const void* argument) {
    auto& self = *static_cast<Departure*>(const_cast<void*>(argument));
    self.leave(self);
  };
  return park({strict_key(this), announce, &departure, deadline, 0, leave}) == ParkResult::woken;
}

bool Condition::awaited() const { return !Waiters(strict_key(this)).empty(); }

void Condition::notify_one_slow() {
  Waiters waiters(strict_key(this));
  (void)waiters.take();
  if (waiters.empty()) queued_.store(0, std::memory_order_relaxed);
}

void Condition::notify_all_slow() {
  Waiters waiters(strict_key(this));
  waiters.take_all();
  queued_.store(0, std::memory_order_relaxed);
}

}  // namespace weft::core
