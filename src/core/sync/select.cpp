// A permit that wakes a unit here is not lost to others: who is resumed by a semaphore was claimed by it
// (parking_lot.cpp), looks there first, and comes back with that permit or, if somebody was faster, waits again. If
// another event was first, the semaphore's release passes the unit over and wakes the next.
#include "core/sync/select.h"

#include "core/sync/flag.h"
#include "core/sync/latch.h"
#include "core/sync/semaphore.h"

namespace weft::core {

bool Event::try_take() const {
  switch (kind_) {
    case Kind::flag:
      return static_cast<const Flag*>(object_)->is_set();
    case Kind::latch:
      return static_cast<const Latch*>(object_)->is_open();
    case Kind::semaphore:
      return static_cast<Semaphore*>(const_cast<void*>(object_))->try_acquire();
  }
  return false;
}

ParkPlace Event::place() const {
  switch (kind_) {
    case Kind::flag:
      return static_cast<const Flag*>(object_)->place();
    case Kind::latch:
      return static_cast<const Latch*>(object_)->place();
    case Kind::semaphore:
      break;
  }
  return static_cast<const Semaphore*>(object_)->place();
}

std::uint32_t poll_any(const Event* events, std::uint32_t count) {
  for (std::uint32_t index = 0; index < count; ++index)
    if (events[index].try_take()) return index;
  return count;
}

std::uint32_t wait_any(const Event* events, ParkPlace* places, std::uint32_t count, std::uint64_t deadline) {
  for (;;) {
    const std::uint32_t ready = poll_any(events, count);
    if (ready != count) return ready;
    for (std::uint32_t index = 0; index < count; ++index) places[index] = events[index].place();
    std::uint32_t which = 0;
    if (park_any(places, count, deadline, &which) == ParkResult::timed_out) return count;
    if (events[which].lasts() || events[which].try_take()) return which;
  }
}

}  // namespace weft::core
