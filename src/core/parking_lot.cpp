// A unit on several addresses has a Waiter in each queue, in one Selection. Unparkers of two of them may come
// at the same time, and the timer too: whoever changes Selection::claimed first resumes the unit, the others pass
// it over and take the next. A queue's Waiter is looked at under the lock of its bucket only, and the unit,
// once it is back, unlinks those that are left before it lets them go. No two bucket locks are held at once.
#include "core/parking_lot.h"

#include <new>

#include "core/ready.h"
#include "os/clock.h"

namespace weft::core {

Bucket buckets[1U << bucket_bits];

struct Selection : Timer {
  Unit* unit = nullptr;
  ParkPlace* places = nullptr;
  std::uint32_t chosen = 0;  // written by who claims it, before it resumes the unit
  bool timed_out = false;
  std::atomic<bool> claimed{false};

  // Relaxed: what the claimer did before reaches the unit through resume().
  bool claim() { return !claimed.exchange(true, std::memory_order_relaxed); }
};

namespace {

bool has_passed(std::uint64_t deadline) { return deadline != never && deadline <= os::now_ns(); }

// Of a wait on one address.
struct OneTimer : Timer {
  Waiter* waiter = nullptr;
  bool timed_out = false;
};

Unit* expire_one(Timer& timer) {
  auto& self = static_cast<OneTimer&>(timer);
  Waiter& waiter = *self.waiter;
  Bucket& bucket = bucket_of(waiter.address);
  SpinGuard guard(bucket.lock);
  if (!waiter.linked) return nullptr;
  bucket.unlink(waiter);
  self.timed_out = true;
  return waiter.unit;
}

Unit* expire_selection(Timer& timer) {
  auto& selection = static_cast<Selection&>(timer);
  if (!selection.claim()) return nullptr;
  selection.timed_out = true;
  return selection.unit;
}

// Links the waiter if its address is still wanted.
bool queue_up(Waiter& waiter, StillWanted still_wanted, const void* argument) {
  Bucket& bucket = bucket_of(waiter.address);
  SpinGuard guard(bucket.lock);
  if (!still_wanted(argument)) return false;
  bucket.link(waiter);
  return true;
}

void leave_queues(ParkPlace* places, std::uint32_t count) {
  for (std::uint32_t index = 0; index < count; ++index) {
    Waiter& waiter = places[index].waiter;
    Bucket& bucket = bucket_of(waiter.address);
    SpinGuard guard(bucket.lock);
    if (waiter.linked) bucket.unlink(waiter);
  }
}

}  // namespace

// ---------------------------------------------------------------- parking

ParkResult park(const Parking& parking) {
  const bool timed = parking.deadline != never;
  if (timed && has_passed(parking.deadline)) return ParkResult::timed_out;
  Unit& unit = this_unit();
  Waiter waiter;
  waiter.address = parking.address;
  waiter.unit = &unit;
  waiter.token = parking.token;
  prepare_suspend(unit);
  {
    const Privacy::Visit visit(parking.visited);
    if (!queue_up(waiter, parking.still_wanted, parking.argument)) {
      cancel_suspend(unit);
      return ParkResult::not_wanted;
    }
  }
  if (parking.queued != nullptr) parking.queued(parking.argument);
  if (!timed) {
    suspend();
    return ParkResult::woken;
  }
  OneTimer timer;
  timer.deadline = parking.deadline;
  timer.expire = expire_one;
  timer.waiter = &waiter;
  arm(timer);
  suspend();
  disarm(timer);
  return timer.timed_out ? ParkResult::timed_out : ParkResult::woken;
}

bool park(const void* address, StillWanted still_wanted, const void* argument) {
  return park({address, still_wanted, argument}) == ParkResult::woken;
}

ParkResult park_until(const void* address, StillWanted still_wanted, const void* argument, std::uint64_t deadline) {
  return park({address, still_wanted, argument, deadline});
}

ParkResult park_any(ParkPlace* places, std::uint32_t count, std::uint64_t deadline, std::uint32_t* which) {
  const bool timed = deadline != never;
  if (timed && has_passed(deadline)) return ParkResult::timed_out;
  Selection selection;
  selection.unit = &this_unit();
  selection.places = places;
  selection.deadline = deadline;
  selection.expire = expire_selection;
  prepare_suspend(*selection.unit);
  for (std::uint32_t index = 0; index < count; ++index) {
    ParkPlace& place = places[index];
    place.waiter.address = place.address;
    place.waiter.unit = selection.unit;
    place.waiter.selection = &selection;
    if (queue_up(place.waiter, place.still_wanted, place.argument)) continue;
    leave_queues(places, index);
    if (selection.claim()) {
      cancel_suspend(*selection.unit);
      *which = index;
      return ParkResult::not_wanted;
    }
    suspend();  // somebody has claimed it meanwhile, and resumes it
    *which = selection.chosen;
    return ParkResult::woken;
  }
  if (timed) arm(selection);
  suspend();
  if (timed) disarm(selection);
  leave_queues(places, count);
  *which = selection.chosen;
  return selection.timed_out ? ParkResult::timed_out : ParkResult::woken;
}

// ---------------------------------------------------------------- unparking

bool Waiters::claim(Waiter& waiter) {
  Selection& selection = *waiter.selection;
  if (!selection.claim()) return false;
  while (&selection.places[selection.chosen].waiter != &waiter) ++selection.chosen;
  return true;
}

void Waiters::resume_taken() {
  if (taken_->next == nullptr)
    resume(*taken_);
  else
    resume_all(taken_);
}

std::uint32_t unpark(const void* address, std::uint32_t most) {
  std::uint32_t count = 0;
  Waiters waiters(address);
  while (count < most && waiters.take()) ++count;
  return count;
}

void reset_parking_lot() {
  for (Bucket& bucket : buckets) new (&bucket) Bucket;
}

}  // namespace weft::core
